/**
 * agent-webhooks.test.ts: tests agents whose questions are answered by a tenant's service: at once, later, or after a
 * restart.
 */

import { env, runDurableObjectAlarm, runInDurableObject, SELF } from "cloudflare:test"
import { nanoid } from "nanoid"
import { describe, expect, test } from "vitest"
import { connect, pageOf, sessionOf, type TestClient } from "../support/socket.ts"
import { askAgent, resultsIn } from "./agents.ts"
import { END, text as textRecord } from "./external-producer.ts"
import { issueToken } from "../../worker/auth/verify-token.ts"
import { call, HOST, nowSeconds, refusal, roleToken, SECRET } from "./http.ts"
import { answerTo, expectSame, freshSession, say, script, textIn } from "./session-helpers.ts"
import { downloadArchive, exportTenant, importTenant, registerUser } from "./tenant-transfer.ts"
import { seenAt, setService, toolUrl, untilSeen } from "./webhook-helpers.ts"

const ADA = { tenant: "acme", user: "ada", expires: 4e9, token: null, issued: 0 }

async function putAgent(name: string, change: object = {}) {
  const token = await roleToken("acme", "boss", "owner")
  const agent = { description: "Answers.", prompt: "-", answered_by: "webhook", url: toolUrl(name), ...change }
  return await call(`/v1/agents/${name}`, { method: "PUT", token, body: JSON.stringify(agent) })
}

/** Creates an agent in the default tenant. Its service has the same name, and responds as `play` says. */
async function createAgent(name: string, play = "echo"): Promise<string> {
  const put = await putAgent(name)
  expect(put.status, put.text).toBe(200)
  await setService(name, put.json.secret, play)
  return put.json.secret
}

async function connectTo(agent: string): Promise<TestClient & { readonly id: string }> {
  const id = `${await freshSession("webhook-agent")}-${agent}`
  await sessionOf(id).create(ADA, id, "", agent)
  return Object.assign(await connect(id), { id })
}

async function startQuestion(client: TestClient, id: string, content: string): Promise<void> {
  client.say({ type: "send", id, content })
  await client.untilTrue(() => answerTo(client, id) !== undefined)
}

/** Kills a session's object, so that its requests are cut off and its memory is lost. */
async function killSession(id: string): Promise<void> {
  await runInDurableObject(sessionOf(id), (_object, state) => state.abort("killed")).catch(() => {})
}

describe("an agent's service", () => {
  test("[EA6] the secret is shown once, isn't part of the configuration, and can be rotated", async () => {
    const put = await putAgent("wa-put")
    expect(put.json).toMatchObject({ answered_by: "webhook", url: toolUrl("wa-put") })
    expect(put.json.secret).toMatch(/^whsec_[\w+/]{43}=$/)
    expect((await putAgent("wa-put")).json).not.toHaveProperty("secret")
    const token = await roleToken("acme", "boss", "owner")
    const rotated = await call("/v1/agents/wa-put/secret", { method: "POST", token })
    expect(rotated.json.secret).toMatch(/^whsec_/)
    expect(rotated.json.secret).not.toBe(put.json.secret)
    expect(rotated.json.old_secret_until).toBeGreaterThan(Date.now() + 23 * 60 * 60_000)
    const listed = await call("/v1/agents", { token })
    const audit = await call("/v1/audit", { token })
    expect(audit.text).toContain("agent.secret_rotated")
    for (const { text } of [listed, audit]) expect(text).not.toContain("whsec_")
    expect((await call("/v1/agents/wa-put", { method: "DELETE", token })).status).toBe(204)
    expect(await call("/v1/agents/wa-put/secret", { method: "POST", token })).toEqual(refusal(404, "agent_unknown"))
    expect((await putAgent("wa-put")).json.secret).toMatch(/^whsec_/)
  })

  test.each([
    { url: undefined },
    { url: "https://10.0.0.1/" },
    { url: "http://example.com/" },
    { answered_by: "program" },
    { answered_by: undefined },
  ])("[EA6] %j is refused", async (change) => {
    expect(await putAgent("wa-bad", change)).toEqual(refusal(400, "field_invalid", "url"))
  })

  test("[EA6] only administrators can set an agent's service", async () => {
    const body = JSON.stringify({ description: "d", prompt: "p", answered_by: "webhook", url: toolUrl("wa-scope") })
    const claims = { tenant: "acme", user: "ada", expires: nowSeconds() + 600, token: nanoid(), issued: nowSeconds() }
    const token = await issueToken({ ...claims, scope: "admin" }, SECRET)
    const path = "/v1/agents/wa-scope"
    expect(await call(path, { method: "PUT", token, body })).toEqual(refusal(403, "scope_denied"))
    expect(await call(`${path}/secret`, { method: "POST", token })).toEqual(refusal(403, "scope_denied"))
  })
})

describe("questions", () => {
  test("[EA6] [EA7] a question is signed, and the text of the response becomes the answer", async () => {
    await createAgent("wa-ask")
    const client = await connectTo("wa-ask")
    client.say({ type: "send", id: "q1", content: "Is it open?" })
    const answer = await client.untilEnd("q1")
    expect(answer).toMatchObject({ mode: "external", status: "completed" })
    expect(textIn(answer)).toBe("You asked: Is it open?")
    const [seen, ...more] = await seenAt("wa-ask")
    expect(more).toEqual([])
    expect(seen).toMatchObject({ isVerified: true, body: { type: "agent.question" } })
    expect(seen?.body.data).toMatchObject({ id: answer.id, agent: "wa-ask", user: "ada", session: client.id })
    await expectSame(client.id, client)
  })

  test("[EA7] a question from another agent is answered too", async () => {
    await createAgent("wa-peer")
    const id = await freshSession("wa-peer")
    const client = await connect(id)
    client.say({ type: "send", id: "q1", content: script([askAgent("wa-peer", "Which one?")], [say("Thanks.")]) })
    expect(resultsIn(await client.untilEnd("q1"))).toMatchObject([
      { agent: "wa-peer", answer: "You asked: Which one?" },
    ])
  })

  test("[EA8] a question is sent once while its request is open, and again with the same id after a restart", async () => {
    const secret = await createAgent("wa-kill", "silent")
    const client = await connectTo("wa-kill")
    await startQuestion(client, "q1", "Still there?")
    await untilSeen("wa-kill", 1)
    await runDurableObjectAlarm(sessionOf(client.id))
    expect(await seenAt("wa-kill")).toHaveLength(1)
    await setService("wa-kill", secret, "echo")
    await killSession(client.id)
    await runDurableObjectAlarm(sessionOf(client.id))
    await expect
      .poll(async () => (await pageOf(client.id)).messages.at(-1), { timeout: 20_000 })
      .toMatchObject({ status: "completed", segments: [{ type: "text", content: "You asked: Still there?" }] })
    const seen = await seenAt("wa-kill")
    expect(seen).toHaveLength(2)
    expect(new Set(seen.map(({ id }) => id)).size).toBe(1)
  })

  test("[EA8] a question is sent again at the next alarm if the service is busy", async () => {
    await createAgent("wa-busy", "busy")
    const client = await connectTo("wa-busy")
    await startQuestion(client, "q1", "Busy?")
    for (const count of [1, 2]) {
      await untilSeen("wa-busy", count)
      // Repeat the alarm, because the response may not have been read yet when it fires.
      const wakeAndCount = async (): Promise<number> => {
        await runDurableObjectAlarm(sessionOf(client.id))
        return (await seenAt("wa-busy")).length
      }
      await expect.poll(wakeAndCount).toBeGreaterThan(count)
    }
    expect(textIn(await client.untilEnd("q1"))).toBe("You asked: Busy?")
    const seen = await seenAt("wa-busy")
    expect(new Set(seen.map(({ id }) => id)).size).toBe(1)
  })

  test("[EA7] a question can be answered later, through the route for external producers", async () => {
    await createAgent("wa-later", "later")
    const client = await connectTo("wa-later")
    await startQuestion(client, "q1", "Later?")
    const [seen] = await untilSeen("wa-later", 1)
    const { id, token } = seen?.body.data ?? { id: "", token: "" }
    const path = `${HOST}/external/sessions/${client.id}/events?responseId=${id}`
    const records = [textRecord("In a "), textRecord("while."), END]
    const sent = await SELF.fetch(path, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: records.map((record, at) => `${JSON.stringify({ ...record, n: at + 1 })}\n`).join(""),
    })
    expect(sent.status, await sent.text()).toBe(200)
    expect(textIn(await client.untilEnd("q1"))).toBe("In a while.")
    await runDurableObjectAlarm(sessionOf(client.id))
    expect(await seenAt("wa-later")).toHaveLength(1)
  })

  test("[EA7] a question that a user cancels ends as cancelled, and isn't sent again", async () => {
    await createAgent("wa-stop", "silent")
    const client = await connectTo("wa-stop")
    await startQuestion(client, "q1", "Stop?")
    await untilSeen("wa-stop", 1)
    client.say({ type: "cancel", exchange_id: "q1" })
    expect(await client.untilEnd("q1")).toMatchObject({ status: "cancelled" })
    await runDurableObjectAlarm(sessionOf(client.id))
    expect(await seenAt("wa-stop")).toHaveLength(1)
  })

  test("[EA3] [EA8] a question that the service never answers fails at its deadline", async () => {
    await createAgent("wa-never", "silent")
    const client = await connectTo("wa-never")
    await startQuestion(client, "q1", "Anyone?")
    await untilSeen("wa-never", 1)
    await runInDurableObject(sessionOf(client.id), (_object, { storage }) =>
      storage.sql.exec("UPDATE transcript SET deadline = 1 WHERE role = 'assistant'").toArray(),
    )
    await killSession(client.id)
    await runDurableObjectAlarm(sessionOf(client.id))
    await expect
      .poll(async () => (await pageOf(client.id)).messages.at(-1))
      .toMatchObject({ status: "failed", reason: "agent_failed" })
  })

  test.each([
    "not-json",
    "deep",
    "number",
    "text",
    "null",
    "empty-object",
    "fake-error",
    "markup",
    "many-values",
    "too-large",
    "status-400",
    "status-401",
    "status-500",
    "redirect-301",
    "redirect-302",
    "redirect-307",
    "endless",
  ])("[EA9] a question fails and isn't sent again if the response is %s", async (play) => {
    const name = `wa-${play}`
    await createAgent(name, play)
    const client = await connectTo(name)
    client.say({ type: "send", id: "q1", content: "Well?" })
    const answer = await client.untilEnd("q1")
    expect(answer).toMatchObject({ status: "failed", reason: "producer_failed" })
    // Check the text of the service's error, if the service sent one.
    expect(textIn(answer)).toBe(play.startsWith("status-") ? "Not today." : "")
    await runDurableObjectAlarm(sessionOf(client.id))
    expect(await seenAt(name)).toHaveLength(1)
    expect(await seenAt("elsewhere")).toEqual([])
  })

  test("[EA9] if the service responds with a long error, only its beginning is shown", async () => {
    await createAgent("wa-long", "long-error")
    const client = await connectTo("wa-long")
    client.say({ type: "send", id: "q1", content: "Well?" })
    const answer = await client.untilEnd("q1")
    expect(answer).toMatchObject({ status: "failed", reason: "producer_failed" })
    expect(textIn(answer)).toMatch(/^e{400,500}…?$/)
  })

  test.each([
    ["trailer", "weather_1"],
    ["media", "stolen"],
    ["embed", "stolen"],
  ])("[EA7] a response with a %s is shown as text, not as a card, a file or a document", async (play) => {
    const name = `wa-${play}`
    await createAgent(name, play)
    const client = await connectTo(name)
    client.say({ type: "send", id: "q1", content: "Well?" })
    const answer = await client.untilEnd("q1")
    expect(answer.segments.filter(({ type }) => type !== "text")).toEqual([])
    await expectSame(client.id, client)
  })
})

test("[EA6] an archive contains the agent without its secret, and an imported agent can be given a new one", async () => {
  await registerUser("wa-from", "boss", "owner")
  const token = await roleToken("wa-from", "boss", "owner")
  const body = JSON.stringify({ description: "d", prompt: "p", answered_by: "webhook", url: toolUrl("wa-from") })
  const put = await call("/v1/agents/desk", { method: "PUT", token, body })
  const archive = await downloadArchive("wa-from", await exportTenant("wa-from"))
  await importTenant("wa-to", archive)
  const stub = env.TENANT.getByName("wa-to")
  expect(await stub.openAgentWebhook("desk")).toBeNull()
  const other = await roleToken("wa-to", "boss", "owner")
  const again = await call("/v1/agents/desk", { method: "PUT", token: other, body })
  expect(again.json.secret).toMatch(/^whsec_/)
  expect(again.json.secret).not.toBe(put.json.secret)
})
