/**
 * annotations.test.ts: tests feedback, an answer's usage, always-allowed tools, saved prompts and branches, over HTTP.
 */

import { env, evictDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { MAX_PROMPTS, MAX_PROMPT_BYTES } from "../../shared/protocol/writing/saved-prompt.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { hrefOf, png, postFile } from "./files.ts"
import { call, makeSession, refusal, roleToken, tablesOf, tokenOf } from "./http.ts"
import { askQuestion } from "./tenant-transfer.ts"

const UNKNOWN = refusal(404, "session_unknown")

async function request(token: string, method: string, path: string, body?: object) {
  return await call(path, { method, token, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
}

async function readMessages(token: string, session: string): Promise<readonly WireMessage[]> {
  return (await call(`/v1/sessions/${session}/conversation/recent?limit=50`, { token })).json.messages
}

/** Creates a session with one answer. Returns the session's id and path, and the answer. */
async function askIn(token: string, content = "/say hello", title?: string) {
  const id = await makeSession(token, title)
  await askQuestion(id, token, content)
  const answer = (await readMessages(token, id)).at(-1) as WireMessage
  return { id, path: `/v1/sessions/${id}`, answer }
}

describe("feedback", () => {
  test("[WR10] can be set, changed and removed for an answer, survives eviction, and changes no message", async () => {
    const token = await tokenOf("wr10", "ada")
    const { id, path, answer } = await askIn(token)
    const before = await readMessages(token, id)
    const own = `${path}/messages/${answer.id}/feedback`
    expect((await request(token, "PUT", own, { rating: "up" })).json).toMatchObject({ rating: "up", reason: null })
    const changed = { rating: "down", reason: "incorrect", note: " It is\u0007 colder. " }
    expect((await request(token, "PUT", own, changed)).status).toBe(200)
    await evictDurableObject(env.SESSION.getByName(`wr10:${id}`))
    const listed = (await request(token, "GET", `${path}/feedback`)).json.feedback
    expect(listed).toEqual([
      { message: answer.id, rating: "down", reason: "incorrect", note: "It is colder.", at: expect.any(String) },
    ])
    expect(await readMessages(token, id)).toEqual(before)
    expect((await request(token, "DELETE", own)).status).toBe(204)
    expect((await request(token, "DELETE", own)).status).toBe(204)
    expect((await request(token, "GET", `${path}/feedback`)).json.feedback).toEqual([])
  })

  test("[WR11] accepts only a rating, a listed reason and a short note, and only for the user's own answers", async () => {
    const token = await tokenOf("wr11", "ada")
    const { path, answer } = await askIn(token)
    const own = `${path}/messages/${answer.id}/feedback`
    for (const body of [
      {},
      { rating: "so" },
      { rating: "up", reason: "x" },
      { rating: "up", note: "x".repeat(1001) },
    ]) {
      expect(await request(token, "PUT", own, body)).toEqual(refusal(400, "field_invalid"))
    }
    const put = async (message: string) =>
      await request(token, "PUT", `${path}/messages/${message}/feedback`, { rating: "up" })
    expect(await put("nobody")).toEqual(refusal(404, "message_unknown"))
    expect(await put("a b")).toEqual(refusal(404, "message_unknown"))
    expect(await put(answer.exchange_id)).toEqual(refusal(400, "field_invalid"))
    const other = await tokenOf("wr11", "bob")
    expect(await request(other, "PUT", own, { rating: "up" })).toEqual(UNKNOWN)
    expect(await request(other, "GET", `${path}/feedback`)).toEqual(UNKNOWN)
    expect((await request(token, "GET", `${path}/feedback`)).json.feedback).toEqual([])
  })

  test("[WR12] is exported with its answer, and imported again", async () => {
    const token = await tokenOf("wr12", "ada")
    const { path, answer } = await askIn(token)
    const feedback = { rating: "down", reason: "style", note: "Too long." }
    await request(token, "PUT", `${path}/messages/${answer.id}/feedback`, feedback)
    const exported = (await call(`${path}/events`, { token })).text
    expect(exported).toContain('"feedback":{"rating":"down","reason":"style","note":"Too long."')
    const copy = await makeSession(token)
    const body = exported
    const imported = await call(`/v1/sessions/${copy}/import`, { method: "POST", token, body })
    expect(imported.json).toMatchObject({ state: "done", isSealed: true })
    const listed = (await request(token, "GET", `/v1/sessions/${copy}/feedback`)).json.feedback
    expect(listed).toMatchObject([{ message: answer.id, ...feedback }])
    const again = (await call(`/v1/sessions/${copy}/events`, { token })).text
    expect(again.split("\n").slice(0, -2)).toEqual(
      exported
        .split("\n")
        .slice(0, -2)
        .map((line) => line.replaceAll(path.slice("/v1/sessions/".length), copy)),
    )
  })

  test("[WR13] is counted per agent and month; a changed rating updates the counts, which only administrators can read", async () => {
    const token = await tokenOf("wr13", "ada")
    const owner = await roleToken("wr13", "boss", "owner")
    const readCounts = async () => (await request(owner, "GET", "/v1/feedback")).json.counts
    expect(await readCounts()).toEqual([])
    const { path, answer } = await askIn(token)
    const second = await askIn(token)
    const put = async (to: string, id: string, body: object) =>
      await request(token, "PUT", `${to}/messages/${id}/feedback`, body)
    await put(path, answer.id, { rating: "up" })
    await put(path, answer.id, { rating: "down", reason: "slow" })
    await put(second.path, second.answer.id, { rating: "up" })
    const month = new Date().toISOString().slice(0, 7)
    const expected = { agent: "general", month, up: 1, down: 1, reasons: { slow: 1 } }
    await expect.poll(readCounts).toEqual([expected])
    await request(token, "DELETE", `${path}/messages/${answer.id}/feedback`)
    await expect.poll(readCounts).toEqual([{ ...expected, down: 0, reasons: {} }])
    expect(await request(token, "GET", "/v1/feedback")).toEqual(refusal(403, "scope_denied"))
  })
})

describe("an answer's usage", () => {
  test("[WR14] contains the tokens, and the cost only if the tenant shows costs", async () => {
    const token = await tokenOf("wr14", "ada")
    const owner = await roleToken("wr14", "boss", "owner")
    const script = [
      [
        { type: "text_delta", delta: "hi" },
        { type: "finish", input_tokens: 1000, output_tokens: 10 },
      ],
    ]
    const { path, answer } = await askIn(token, `/script ${JSON.stringify(script)}`)
    const readUsage = async () => (await request(token, "GET", `${path}/messages/${answer.id}/usage`)).json
    expect(await readUsage()).toEqual({
      calls: 1,
      input_tokens: 1000,
      cached_tokens: 0,
      output_tokens: 10,
      reasoning_tokens: 0,
      models: ["scripted"],
      estimated: false,
      cost_nano_usd: null,
    })
    const settings = { embed_origins: [], media_hosts: [], show_cost: true }
    expect((await request(owner, "PUT", "/v1/settings", settings)).json).toMatchObject({ show_cost: true })
    expect((await readUsage()).cost_nano_usd).toBe(0)
    expect(await request(token, "GET", `${path}/messages/${answer.exchange_id}/usage`)).toEqual(
      refusal(404, "message_unknown"),
    )
  })
})

describe("tools that are always allowed", () => {
  test("[AP8] [AP9] [AP10] the waiting call and later calls run and are shown as allowed, only in this session and until the permission is revoked", async () => {
    const token = await tokenOf("ap8", "ada")
    const id = await makeSession(token)
    const path = `/v1/sessions/${id}`
    const body = JSON.stringify({ id: "q1", content: "Rename this conversation to Rain" })
    expect((await call(`${path}/messages`, { method: "POST", token, body })).status).toBe(202)
    const readLast = async (session = id) => (await readMessages(token, session)).at(-1)
    await expect.poll(async () => (await readLast())?.status).toBe("waiting")
    const allowed = await request(token, "PUT", `${path}/allowed-tools/rename_conversation`)
    expect(allowed.json.tools).toEqual([{ tool: "rename_conversation", since: expect.any(Number) }])
    await expect.poll(async () => (await readLast())?.status).toBe("completed")
    await evictDurableObject(env.SESSION.getByName(`ap8:${id}`))
    await askQuestion(id, token, "Rename this conversation to Shine")
    const tools = ((await readLast())?.segments ?? []).filter(({ type }) => type === "tool")
    expect(tools).toMatchObject([{ status: "ok", approval: "allowed" }])
    const other = await makeSession(token)
    await call(`/v1/sessions/${other}/messages`, { method: "POST", token, body })
    await expect.poll(async () => (await readLast(other))?.status).toBe("waiting")
    expect((await request(token, "DELETE", `${path}/allowed-tools/rename_conversation`)).json.tools).toEqual([])
    const again = JSON.stringify({ id: "q3", content: "Rename this conversation to Snow" })
    await call(`${path}/messages`, { method: "POST", token, body: again })
    await expect.poll(async () => (await readLast())?.status).toBe("waiting")
  })

  test("[AP10] a tool that needs no approval, an unknown tool and another user's session are refused", async () => {
    const token = await tokenOf("ap10", "ada")
    const path = `/v1/sessions/${await makeSession(token)}/allowed-tools`
    for (const tool of ["weather", "nothing", "x".repeat(300)]) {
      expect(await request(token, "PUT", `${path}/${tool}`)).toEqual(refusal(400, "field_invalid"))
    }
    const other = await tokenOf("ap10", "bob")
    expect(await request(other, "PUT", `${path}/rename_conversation`)).toEqual(UNKNOWN)
    expect((await request(token, "GET", path)).json).toEqual({ tools: [] })
  })
})

describe("saved prompts", () => {
  test("[WR20] are stored per user, replaced by id, and listed in order of name", async () => {
    const token = await tokenOf("wr20", "ada")
    const other = await tokenOf("wr20", "bob")
    expect((await request(token, "GET", "/v1/prompts")).json).toEqual({ prompts: [] })
    expect(await tablesOf(env.DIRECTORY.getByName("wr20:ada"))).toEqual([])
    const put = async (id: string, prompt: object) => await request(token, "PUT", `/v1/prompts/${id}`, prompt)
    expect((await put("p1", { name: " Sum\nup ", text: "Summarise:\n" })).json).toMatchObject({
      id: "p1",
      name: "Sum up",
      text: "Summarise:\n",
    })
    await put("p2", { name: "Answer", text: "Answer." })
    await put("p1", { name: "Sum up", text: "In short:" })
    const listed = (await request(token, "GET", "/v1/prompts")).json.prompts
    expect(listed.map(({ name, text }: { name: string; text: string }) => [name, text])).toEqual([
      ["Answer", "Answer."],
      ["Sum up", "In short:"],
    ])
    expect((await request(other, "GET", "/v1/prompts")).json).toEqual({ prompts: [] })
    expect((await request(token, "DELETE", "/v1/prompts/p1")).status).toBe(204)
    expect((await request(token, "DELETE", "/v1/prompts/p1")).status).toBe(204)
    expect((await request(token, "GET", "/v1/prompts")).json.prompts).toHaveLength(1)
    const malformed = await request(token, "DELETE", `/v1/prompts/${"x".repeat(500)}`)
    expect([malformed.status, malformed.json.code]).toEqual([400, "field_invalid"])
  })

  test("[WR20] have limits on the lengths of their names and texts, and on their number", async () => {
    const token = await tokenOf("wr20b", "ada")
    const put = async (id: string, prompt: object) => await request(token, "PUT", `/v1/prompts/${id}`, prompt)
    const text = "é".repeat(MAX_PROMPT_BYTES / 2)
    for (const bad of [
      {},
      { name: "", text },
      { name: "x".repeat(61), text },
      { name: "x", text: `${text}x` },
      { name: "x", text: " " },
    ]) {
      expect(await put("p", bad)).toEqual(refusal(400, "field_invalid"))
    }
    expect(await put("a b", { name: "x", text })).toEqual(refusal(400, "field_invalid"))
    for (let n = 0; n < MAX_PROMPTS; n += 1) expect((await put(`p${n}`, { name: `n${n}`, text: "t" })).status).toBe(200)
    expect(await put("more", { name: "x", text: "t" })).toEqual(refusal(409, "prompts_full"))
    expect((await put("p0", { name: "x", text })).status).toBe(200)
  })
})

describe("a branch", () => {
  test("[WR40] is a new conversation with the same messages up to the chosen one, and is independent of the original", async () => {
    const token = await tokenOf("wr40", "ada")
    const { id, path, answer } = await askIn(token, "What's the weather in Oslo?", "Weather")
    await request(token, "PUT", `${path}/messages/${answer.id}/feedback`, { rating: "up" })
    await askQuestion(id, token, "/say later")
    const branched = await request(token, "POST", `${path}/branch`, { message: answer.id, id: "branch1" })
    expect([branched.status, branched.json]).toEqual([201, { id: "branch1", title: "Weather" }])
    await expect.poll(async () => (await readMessages(token, "branch1")).length).toBe(2)
    const withoutTrace = ({ trace: _, ...message }: WireMessage) => message
    expect((await readMessages(token, "branch1")).map(withoutTrace)).toEqual(
      (await readMessages(token, id)).slice(0, 2).map(withoutTrace),
    )
    expect((await request(token, "GET", "/v1/sessions/branch1/feedback")).json.feedback).toEqual([])
    await askQuestion("branch1", token, "/say other")
    expect(await readMessages(token, id)).toHaveLength(4)
    expect((await call("/v1/sessions", { token })).json.sessions[0]).toMatchObject({ id: "branch1", title: "Weather" })
    await request(token, "DELETE", path)
    expect(await readMessages(token, "branch1")).toHaveLength(4)
  })

  test("[WR40] has its own files, which remain when the original is deleted, and is verified", async () => {
    const token = await tokenOf("wr40c", "ada")
    const { id, path } = await askIn(token, "What's the weather in Oslo?", "Weather")
    const asset = (await postFile(id, token, png(1))).json.id
    const sent = { id: "m2", content: "/say Seen.", attachments: [asset] }
    expect((await request(token, "POST", `${path}/messages`, sent)).status).toBe(202)
    await expect.poll(async () => (await readMessages(token, id)).at(-1)?.status).toBe("completed")
    const answer = (await readMessages(token, id)).at(-1)
    const branched = await request(token, "POST", `${path}/branch`, { message: answer?.id, id: "branch2" })
    expect(branched.status).toBe(201)
    await expect.poll(async () => (await readMessages(token, "branch2")).length).toBe(4)
    await request(token, "DELETE", path)
    const copied = await readMessages(token, "branch2")
    const urls = copied.flatMap(({ segments }) => segments.flatMap((s) => (s.type === "media" ? [s.url] : [])))
    expect(urls).toHaveLength(1)
    expect((await call(await hrefOf("branch2", token, urls[0] ?? ""))).status).toBe(200)
    expect(copied.filter(({ origin }) => origin !== undefined)).toEqual([])
  })

  test("[WR40] another user's session, an unknown message, and an id that is in use are refused, and nothing is stored", async () => {
    const token = await tokenOf("wr40b", "ada")
    const { path, answer } = await askIn(token)
    const branch = async (body: object, as = token) => await request(as, "POST", `${path}/branch`, body)
    expect(await branch({ message: "nobody" })).toEqual(refusal(404, "message_unknown"))
    expect(await branch({})).toEqual(refusal(400, "field_invalid"))
    expect(await branch({ message: answer.id }, await tokenOf("wr40b", "bob"))).toEqual(UNKNOWN)
    const other = await askIn(token)
    expect(await branch({ message: answer.id, id: other.id })).toEqual(refusal(409, "session_begun"))
    expect(await readMessages(token, other.id)).toHaveLength(2)
    expect((await call("/v1/sessions", { token })).json.sessions).toHaveLength(2)
  })
})
