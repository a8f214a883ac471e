/** follow-ups.test.ts: tests the questions that the model suggests after the newest answer. */

import { env, evictDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { readFollowUps } from "../../worker/session/titles/follow-ups.ts"
import { readUpstream, upstreamUrl } from "../support/upstream-client.ts"
import { call, makeSession, refusal, roleToken, tokenOf } from "./http.ts"
import { toJsonl } from "./import-file.ts"

async function switchOn(tenant: string): Promise<void> {
  const token = await roleToken(tenant, "admin", "admin")
  const body = JSON.stringify({ follow_ups: true, embed_origins: [], media_hosts: [] })
  expect((await call("/v1/settings", { method: "PUT", token, body })).status).toBe(200)
}

const readNewest = async (token: string, session: string) =>
  (await call(`/v1/sessions/${session}/conversation/recent`, { token })).json.messages.at(-1)

/** Asks a question, and waits for the answer to end. Returns the answer's id. */
async function answerTo(token: string, session: string, id: string, content: string): Promise<string> {
  await call(`/v1/sessions/${session}/messages`, { method: "POST", token, body: JSON.stringify({ id, content }) })
  const readLast = () => readNewest(token, session)
  await expect.poll(async () => [(await readLast()).exchange_id, (await readLast()).status]).toEqual([id, "completed"])
  return (await readLast()).id
}

const suggest = (token: string, session: string, message: string) =>
  call(`/v1/sessions/${session}/messages/${message}/follow-ups`, { method: "POST", token })

describe("suggested questions", () => {
  test("[FU1] [FU2] [FU4] belong to the newest answer, are requested once for all tabs, and are not stored", async () => {
    await switchOn("follow-on")
    const token = await tokenOf("follow-on", "ada")
    const id = await makeSession(token)
    const first = await answerTo(token, id, "q1", "What's the weather in London?")
    const expected = { follow_ups: ["And tomorrow?", "Do I need an umbrella?", "Draw the temperatures as a chart"] }
    const [one, other] = await Promise.all([suggest(token, id, first), suggest(token, id, first)])
    expect([one.json, other.json]).toEqual([expected, expected])
    const file = await call(`/v1/sessions/${id}/events`, { token })
    const history = await call(`/v1/sessions/${id}/conversation/recent`, { token })
    expect(file.text + history.text).not.toContain("temperatures as a chart")
    await evictDurableObject(env.SESSION.getByName(`follow-on:${id}`))
    expect((await suggest(token, id, first)).json).toEqual(expected)
    const second = await answerTo(token, id, "q2", "/say Hello")
    expect((await suggest(token, id, first)).json).toEqual({ follow_ups: [] })
    expect((await suggest(token, id, second)).json.follow_ups).toHaveLength(3)
  })

  test("[FU1] [FU4] are empty unless the tenant has enabled them, and only for the owner", async () => {
    const token = await tokenOf("follow-off", "ada")
    const id = await makeSession(token)
    const answer = await answerTo(token, id, "q1", "/say Hello")
    expect((await suggest(token, id, answer)).json).toEqual({ follow_ups: [] })
    await switchOn("follow-off")
    expect(await suggest(await tokenOf("follow-off", "eve"), id, answer)).toEqual(refusal(404, "session_unknown"))
    expect(await suggest(token, id, "a b")).toEqual(refusal(404, "message_unknown"))
    expect((await suggest(token, id, "q1")).json).toEqual({ follow_ups: [] })
    expect((await suggest(token, id, "nothing")).json).toEqual({ follow_ups: [] })
  })

  test("[FU4] are empty for an answer that was stopped, and for an imported one", async () => {
    await switchOn("follow-other")
    const token = await tokenOf("follow-other", "ada")
    const stopped = await makeSession(token)
    const readLast = (id: string) => readNewest(token, id)
    const body = JSON.stringify({ id: "q1", content: "/bench deltas=400 chars=6 delay_ms=50" })
    await call(`/v1/sessions/${stopped}/messages`, { method: "POST", token, body })
    await expect.poll(async () => (await readLast(stopped))?.status).toBe("running")
    expect((await suggest(token, stopped, (await readLast(stopped)).id)).json).toEqual({ follow_ups: [] })
    await call(`/v1/sessions/${stopped}/cancel`, { method: "POST", token, body: "{}" })
    await expect.poll(async () => (await readLast(stopped)).status).toBe("cancelled")
    expect((await suggest(token, stopped, (await readLast(stopped)).id)).json).toEqual({ follow_ups: [] })

    const imported = await makeSession(token)
    const records = ["user", "assistant"].map((role) => ({ type: "message", role, content: "Hello" }))
    await call(`/v1/sessions/${imported}/import`, { method: "POST", token, body: toJsonl(...records) })
    await expect.poll(async () => (await readLast(imported))?.role).toBe("assistant")
    expect((await suggest(token, imported, (await readLast(imported)).id)).json).toEqual({ follow_ups: [] })
  })

  test("[FU2] [FU4] are empty if the model writes anything else; the model is asked once for all tabs", async () => {
    const tenant = "follow-plain"
    await switchOn(tenant)
    const owner = await roleToken(tenant, "admin", "owner")
    const put = (path: string, body: object) => call(path, { method: "PUT", token: owner, body: JSON.stringify(body) })
    await put("/v1/models/own", {
      provider: "openai-compatible",
      model: "m",
      base_url: `${upstreamUrl(env)}/model/schema-refused/${tenant}`,
    })
    await put("/v1/agents/own", { description: "", prompt: "Answer.", model: "own" })
    const token = await tokenOf(tenant, "ada")
    const made = await call("/v1/sessions", { method: "POST", token, body: JSON.stringify({ agent: "own" }) })
    const answer = await answerTo(token, made.json.id, "q1", "Hello")
    const both = await Promise.all([1, 2].map(() => suggest(token, made.json.id, answer)))
    expect(both.map(({ json }) => json)).toEqual([{ follow_ups: [] }, { follow_ups: [] }])
    // There is one call for the answer, one with a schema, and one without.
    expect(await readUpstream(env, tenant)).toHaveLength(3)
  })

  test.each([
    ['{"follow_ups":["a?"," b\\n c ","a?","","d","e"]}', ["a?", "b c", "d"]],
    ['```json\n{"follow_ups":["a"]}\n```', ["a"]],
    [JSON.stringify({ follow_ups: ["x".repeat(101), "x".repeat(100), 7, null] }), ["x".repeat(100)]],
    ['{"follow_ups":"a"}', []],
    ['{"follow_ups":["a"', []],
    ["What next?", []],
    ["", []],
  ])("[FU1] are read from %j", (output, questions) => {
    expect(readFollowUps(output)).toEqual(questions)
  })
})
