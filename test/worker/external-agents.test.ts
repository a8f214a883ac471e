/**
 * external-agents.test.ts: tests agents whose questions a program answers. Each question must reach one program, and a
 * restart must not lose it.
 */

import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject, SELF } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { connect, pageOf, sessionOf } from "../support/socket.ts"
import { askAgent, resultsIn } from "./agents.ts"
import { END, text } from "./external-producer.ts"
import { call, HOST, refusal, roleToken } from "./http.ts"
import { answerTo, expectSame, freshSession, say, script, textIn } from "./session-helpers.ts"
import { createKey, createTenant } from "./tenant-access.ts"

const AGENT = { description: "Reads the code.", prompt: "-", answered_by: "program" }

let count = 0
/** Creates an external agent under a name that no other test uses. */
async function freshAgent(tenant = "acme"): Promise<string> {
  count += 1
  const name = `coder${count}`
  const token = await roleToken(tenant, "boss", "owner")
  const put = await call(`/v1/agents/${name}`, { method: "PUT", token, body: JSON.stringify(AGENT) })
  expect(put).toMatchObject({ status: 200, json: { answered_by: "program" } })
  return name
}

/** Creates a session with an agent, for the default user. */
async function sessionWith(agent: string): Promise<string> {
  const id = await freshSession("before")
  const session = `${id}-${agent}`
  await sessionOf(session).create(
    { tenant: "acme", user: "ada", expires: 4e9, token: null, issued: 0 },
    session,
    "",
    agent,
  )
  return session
}

interface Question {
  readonly id: string
  readonly session: string
  readonly user: string
  readonly text: string
  readonly token: string
}

async function takeQuestion(agent: string, wait = 0, token?: string): Promise<Question | null> {
  const bearer = token ?? (await roleToken("acme", "boss", "owner"))
  const taken = await call(`/external/agents/${agent}/question?wait=${wait}`, { token: bearer })
  expect(taken.status).toBe(200)
  return taken.json.question
}

async function sendRecords(question: Question, ...records: readonly object[]) {
  const response = await SELF.fetch(`${HOST}/external/sessions/${question.session}/events?responseId=${question.id}`, {
    method: "POST",
    headers: { authorization: `Bearer ${question.token}` },
    body: records.map((record, at) => `${JSON.stringify({ ...record, n: at + 1 })}\n`).join(""),
  })
  return { status: response.status, json: (await response.json()) as Record<string, unknown> }
}

describe("the agent of a conversation", () => {
  test("[EA1] [EA2] [EA5] a program's answer appears live in place of a model's", async () => {
    const agent = await freshAgent()
    const id = await sessionWith(agent)
    const client = await connect(id)
    client.say({ type: "send", id: "q1", content: "Why does the build fail?" })
    const question = await takeQuestion(agent, 10)
    expect(question).toMatchObject({ session: id, user: "ada", agent, text: "Why does the build fail?" })
    if (question === null) return
    expect(answerTo(client, "q1")).toMatchObject({ id: question.id, mode: "external", status: "running" })
    expect(await sendRecords(question, text("A test "), text("fails."), END)).toMatchObject({
      status: 200,
      json: { n: 3, status: "completed" },
    })
    expect(textIn(await client.untilEnd("q1"))).toBe("A test fails.")
    expect(await sendRecords(question, text("late"))).toMatchObject({ status: 409, json: { code: "turn_ended" } })
    await expectSame(id, client)
  })

  test("[EA2] a regenerated, a retried and an edited question are asked again", async () => {
    const agent = await freshAgent()
    const id = await sessionWith(agent)
    const client = await connect(id)
    client.say({ type: "send", id: "q1", content: "One" })
    const first = await takeQuestion(agent, 10)
    if (first === null) throw new Error("no question")
    await sendRecords(first, text("1"), END)
    await client.untilEnd("q1")
    client.say({ type: "regenerate", id: "a2", message: first.id })
    const second = await takeQuestion(agent, 10)
    expect(second).toMatchObject({ id: "a2", text: "One" })
    if (second !== null) await sendRecords(second, text("2"), { ...END, status: "failed" })
    await expect.poll(async () => (await pageOf(id)).messages.at(-1)?.status).toBe("failed")
    client.say({ type: "retry", id: "a3", message: "a2" })
    expect(await takeQuestion(agent, 10)).toMatchObject({ id: "a3", text: "One" })
    client.say({ type: "cancel", exchange_id: "q1" })
    await expect.poll(async () => (await pageOf(id)).messages.at(-1)?.status).toBe("cancelled")
    client.say({ type: "edit", id: "q2", message: "q1", content: "Two" })
    expect(await takeQuestion(agent, 10)).toMatchObject({ text: "Two" })
  })

  test("[EA3] a question that no program claims in time fails; it can be cancelled before that", async () => {
    const agent = await freshAgent()
    const id = await sessionWith(agent)
    const client = await connect(id)
    client.say({ type: "send", id: "q1", content: "Anyone?" })
    await client.untilTrue(() => answerTo(client, "q1") !== undefined)
    await runInDurableObject(sessionOf(id), (_object, { storage }) =>
      storage.sql.exec("UPDATE transcript SET deadline = 1 WHERE role = 'assistant'").toArray(),
    )
    await evictDurableObject(sessionOf(id))
    await runDurableObjectAlarm(sessionOf(id))
    expect(await client.untilEnd("q1")).toMatchObject({ status: "failed", reason: "agent_failed" })
    client.say({ type: "send", id: "q2", content: "Still nobody?" })
    await client.untilTrue(() => answerTo(client, "q2") !== undefined)
    client.say({ type: "cancel", exchange_id: "q2" })
    expect(await client.untilEnd("q2")).toMatchObject({ status: "cancelled" })
    expect(await takeQuestion(agent)).toBeNull()
  })
})

describe("an agent that asks", () => {
  test("[EA2] a model asks an external agent like any other, and gets the program's answer", async () => {
    const agent = await freshAgent()
    const id = await freshSession("ext-ask")
    const client = await connect(id)
    client.say({ type: "send", id: "q1", content: script([askAgent(agent, "Which test fails?")], [say("Thanks.")]) })
    const question = await takeQuestion(agent, 10)
    expect(question).toMatchObject({ text: "Which test fails?", user: "ada" })
    if (question !== null) await sendRecords(question, text("The third "), text("one."), END)
    const [result] = resultsIn(await client.untilEnd("q1"))
    expect(result).toMatchObject({ agent, answer: "The third one." })
    await expectSame(id, client)
  })
})

describe("delivery", () => {
  test("[EA4] each question goes to one program, whether that program is already waiting or requests the question later", async () => {
    const agent = await freshAgent()
    const [one, two] = [await sessionWith(agent), await sessionWith(agent)]
    const waiting = [takeQuestion(agent, 20), takeQuestion(agent, 20)]
    const clients = [await connect(one), await connect(two)]
    clients[0]?.say({ type: "send", id: "q1", content: "First" })
    clients[1]?.say({ type: "send", id: "q1", content: "Second" })
    const taken = await Promise.all(waiting)
    expect(taken.map((question) => question?.text).sort()).toEqual(["First", "Second"])
    expect(await takeQuestion(agent)).toBeNull()
    // Offering the questions again must not bring back a claimed question.
    await runDurableObjectAlarm(sessionOf(one))
    expect(await takeQuestion(agent)).toBeNull()
  })

  test("[EA4] no question is lost if the session's and the tenant's objects restart", async () => {
    const agent = await freshAgent()
    const id = await sessionWith(agent)
    const client = await connect(id)
    client.say({ type: "send", id: "q1", content: "After a restart" })
    await client.untilTrue(() => answerTo(client, "q1") !== undefined)
    client.socket.close()
    await evictDurableObject(sessionOf(id))
    await evictDurableObject(env.TENANT.getByName("acme"))
    await runDurableObjectAlarm(sessionOf(id))
    expect(await takeQuestion(agent, 10)).toMatchObject({ text: "After a restart" })
  })

  test("[EA5] a program that sends nothing after it has claimed a question is treated as gone", async () => {
    const agent = await freshAgent()
    const id = await sessionWith(agent)
    const client = await connect(id)
    client.say({ type: "send", id: "q1", content: "Hello?" })
    await takeQuestion(agent, 10)
    await runInDurableObject(sessionOf(id), (_object, { storage }) =>
      storage.sql.exec("UPDATE transcript SET deadline = 1 WHERE role = 'assistant'").toArray(),
    )
    await evictDurableObject(sessionOf(id))
    await runDurableObjectAlarm(sessionOf(id))
    await expect
      .poll(async () => (await pageOf(id)).messages.at(-1))
      .toMatchObject({
        status: "interrupted",
        reason: "producer_gone",
      })
  })
})

describe("access", () => {
  test("[EA4] a program needs an API key of its tenant, or an administrator's token", async () => {
    const agent = await freshAgent()
    const owner = await createTenant("listening")
    const { key: viewer } = await createKey(owner, { roles: ["viewer"] })
    const path = `/external/agents/${agent}/question`
    for (const token of [await roleToken("acme", "ada", "member"), await roleToken("acme", "ada", "viewer"), viewer]) {
      expect(await call(path, { token })).toEqual(refusal(403, "scope_denied"))
    }
    // Another tenant has no such agent, even while a question to the agent is open.
    const id = await sessionWith(agent)
    const client = await connect(id)
    client.say({ type: "send", id: "q1", content: "Secret" })
    await client.untilTrue(() => answerTo(client, "q1") !== undefined)
    expect(await call(path, { token: owner })).toEqual(refusal(404, "agent_unknown"))
    expect(await call("/external/agents/general/question", { token: owner })).toEqual(refusal(404, "agent_unknown"))
    expect(await call(`${path}?wait=99`, { token: await roleToken("acme", "boss", "owner") })).toEqual(
      refusal(400, "field_invalid"),
    )
    expect(await takeQuestion(agent)).toMatchObject({ text: "Secret" })
  })
})
