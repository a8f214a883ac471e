/**
 * mcp-input.test.ts: tests questions that MCP servers ask the user during a call: the question, the answers, and the
 * repeated call.
 */

import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import type { TurnEvent } from "../../shared/protocol/event.ts"
import { createMessage, fold, listCalls } from "../../shared/protocol/message.ts"
import { decideNextAction } from "../../worker/turn/next-action.ts"
import { planRecovery } from "../../worker/turn/turn-recovery.ts"
import { BOOKING_FORM } from "../support/asking-mcp.ts"
import { connect, type TestClient } from "../support/socket.ts"
import type { McpState } from "../support/upstream-mcp.ts"
import { answerTo, call as toolCall, say, script, toolsIn } from "./session-helpers.ts"
import { call, refusal, roleToken } from "./http.ts"
import { openAgentSession, putServer, seenAt, serverUrl, setServer, startEverything } from "./mcp-helpers.ts"

const elicit = (params: object) => ({ method: "elicitation/create", params }) as never
const FORM = elicit({ mode: "form", ...BOOKING_FORM })
const YES = elicit({ message: "Sure?", requestedSchema: { type: "object", properties: { sure: { type: "boolean" } } } })
const FIELDS = { name: "Ada", seats: 2, class: "first", meals: ["Lunch"], window: false }

type Asking = TestClient & { readonly session: string; readonly tenant: string }

async function openAsking(tenant: string, state: McpState, server: object = {}): Promise<Asking> {
  await setServer(tenant, state)
  const tools = state.tools ?? ["ask", "look"]
  await putServer(tenant, "trips", { url: serverUrl(tenant), tools, approval: "never", ...server })
  return Object.assign(await openAgentSession(tenant, ["trips"]), { tenant })
}

const callOf = (client: Asking, id = "q1") => toolsIn(answerTo(client, id))[0]

async function askUser(client: Asking, id = "q1", tool = "ask", question = "1-1") {
  client.say({ type: "send", id, content: script([toolCall(`trips_${tool}`, { text: id })], [say("Done.")]) })
  return await untilAsked(client, id, question)
}

async function untilAsked(client: Asking, id: string, question: string) {
  await client.untilTrue(() => callOf(client, id)?.input?.id === question)
  return callOf(client, id)
}

async function answer({ tenant, session }: Asking, callId: string, body: object, user = "ada") {
  const path = `/v1/sessions/${session}/calls/${callId}/input`
  return await call(path, {
    method: "POST",
    token: await roleToken(tenant, user, "member"),
    body: JSON.stringify(body),
  })
}

const accept = (content: object, input = "1-1") => ({ input, action: "accept", content })
const resultOf = (client: Asking, id = "q1") => JSON.parse(JSON.parse(callOf(client, id)?.result ?? "{}").text ?? "{}")
const objectOf = ({ tenant, session }: Asking) => env.SESSION.getByName(`${tenant}:${session}`)
const storedIn = (client: Asking) =>
  runInDurableObject(objectOf(client), (_object, { storage }) =>
    storage.sql.exec("SELECT asked FROM call_input").toArray(),
  )

describe("a server's question", () => {
  test("[MP30] is shown as a form in the call; the repeated call contains the answer and the server's state", async () => {
    const client = await openAsking("mi-form", { asks: [{ who: FORM }] })
    const asked = await askUser(client)
    expect(asked).toMatchObject({ status: "waiting", input: { server: "trips", message: BOOKING_FORM.message } })
    expect(asked?.input?.fields).toMatchObject([
      { name: "name", kind: "text", label: "Name", hint: "As in the passport.", isRequired: true, min: 2, max: 40 },
      { name: "email", kind: "text", format: "email", isRequired: false },
      { name: "day", kind: "text", format: "date" },
      { name: "seats", kind: "integer", min: 1, max: 2, initial: 1, isRequired: true },
      { name: "class", kind: "choice", options: [{ value: "eco", label: "Economy" }, { value: "first" }] },
      { name: "meals", kind: "choices", options: [{ value: "Lunch" }, { value: "Dinner" }], max: 2 },
      { name: "window", kind: "check", initial: true },
    ])
    expect(answerTo(client, "q1")?.status).toBe("waiting")
    expect((await answer(client, asked?.call_id ?? "", accept(FIELDS))).status).toBe(204)
    await client.untilEnd("q1")
    expect(callOf(client)).toMatchObject({ status: "ok" })
    expect(callOf(client)).not.toHaveProperty("input")
    expect(resultOf(client)).toEqual({
      text: "q1",
      answers: { who: { action: "accept", content: FIELDS } },
      isSameState: true,
    })
    // The answers and the server's state must be deleted when the turn ends.
    expect(await storedIn(client)).toEqual([])
  })

  test("[MP30] is stored while it waits: an eviction changes nothing, and a second client sees the same", async () => {
    const client = await openAsking("mi-evict", { asks: [{ who: FORM }] })
    const asked = await askUser(client)
    await evictDurableObject(objectOf(client))
    const claims = { tenant: "mi-evict", user: "ada", expires: 4_000_000_000, token: null, issued: 0 }
    const second = await connect(client.session, claims)
    const token = await roleToken("mi-evict", "ada", "member")
    const history = async () =>
      (await call(`/v1/sessions/${client.session}/conversation/recent?limit=5`, { token })).json.messages
    expect(toolsIn((await history()).at(-1))).toEqual([asked])
    expect((await answer(client, asked?.call_id ?? "", accept(FIELDS))).status).toBe(204)
    await second.untilTrue((frame) => frame.type === "ops" && frame.ops.some(({ op }) => op === "end"))
    expect(toolsIn((await history()).at(-1))).toMatchObject([{ status: "ok" }])
  })

  test("[MP30] can be one of several, in one round or in consecutive rounds", async () => {
    const client = await openAsking("mi-many", { asks: [{ a: YES, b: YES }, { c: FORM }, { d: YES }] })
    const { call_id: id = "" } = (await askUser(client)) ?? {}
    expect((await answer(client, id, accept({ sure: true }))).status).toBe(204)
    await untilAsked(client, "q1", "1-2")
    expect((await answer(client, id, { input: "1-2", action: "decline" })).status).toBe(204)
    await untilAsked(client, "q1", "2-1")
    expect((await answer(client, id, accept(FIELDS, "2-1"))).status).toBe(204)
    await untilAsked(client, "q1", "3-1")
    expect((await answer(client, id, accept({ sure: false }, "3-1"))).status).toBe(204)
    await client.untilEnd("q1")
    expect(resultOf(client)).toMatchObject({ answers: { d: { action: "accept", content: { sure: false } } } })
  })

  test("[MP30] doesn't delay the other calls of its step", async () => {
    const client = await openAsking("mi-beside", { asks: [{ a: YES }], tools: ["echo"] }, { tools: ["ask", "echo"] })
    const calls = [toolCall("trips_ask", { text: "one" }), toolCall("trips_echo", { text: "two" })]
    client.say({ type: "send", id: "q1", content: script(calls, [say("Done.")]) })
    await client.untilTrue(() => answerTo(client, "q1")?.status === "waiting")
    expect(toolsIn(answerTo(client, "q1"))).toMatchObject([
      { status: "waiting", input: { id: "1-1" } },
      { status: "ok" },
    ])
    expect((await answer(client, callOf(client)?.call_id ?? "", { input: "1-1", action: "decline" })).status).toBe(204)
    await client.untilEnd("q1")
    expect(resultOf(client).answers).toEqual({ a: { action: "decline" } })
  })

  test("[MP36] makes the call fail in the fourth round, and the server is not called again", async () => {
    const client = await openAsking("mi-rounds", { asks: [{ a: YES }, { a: YES }, { a: YES }, { a: YES }] })
    const { call_id: id = "" } = (await askUser(client)) ?? {}
    for (const round of [1, 2, 3]) {
      await untilAsked(client, "q1", `${round}-1`)
      expect((await answer(client, id, accept({ sure: true }, `${round}-1`))).status).toBe(204)
    }
    await client.untilEnd("q1")
    expect(callOf(client)).toMatchObject({ status: "failed", result: expect.stringContaining("input") })
    const calls = (await seenAt("mi-rounds")).filter(({ method }) => method === "tools/call")
    expect(calls).toHaveLength(4)
  })

  test("[MP36] is not shown if it asks the user to open a URL or asks only to be called again, and the call fails", async () => {
    for (const [tenant, play] of [
      ["mi-url", "input-url"],
      ["mi-again", "input-again"],
    ] as const) {
      const client = await openAsking(tenant, { tools: ["ask"] })
      await setServer(tenant, { tools: ["ask"], hostile: { method: "tools/call", play } })
      client.say({ type: "send", id: "q1", content: script([toolCall("trips_ask", { text: "x" })], [say("Done.")]) })
      await client.untilEnd("q1")
      // The server responded in the same way each time.
      expect(callOf(client)).toMatchObject({ status: "failed", result: expect.stringContaining("input") })
      const calls = (await seenAt(tenant)).filter(({ method }) => method === "tools/call")
      expect(calls).toHaveLength(4)
    }
  })

  test("[MP30] comes after the approval that the rule requires, and the call is approved only once", async () => {
    const client = await openAsking("mi-both", { asks: [{ who: YES }] }, { approval: "always" })
    client.say({ type: "send", id: "q1", content: script([toolCall("trips_ask", { text: "x" })], [say("Done.")]) })
    await client.untilTrue(() => callOf(client)?.approval === "asked")
    const id = callOf(client)?.call_id ?? ""
    client.say({ type: "approve", call_id: id, decision: "allow" })
    await untilAsked(client, "q1", "1-1")
    expect((await answer(client, id, accept({ sure: true }))).status).toBe(204)
    await client.untilEnd("q1")
    expect(callOf(client)).toMatchObject({ status: "ok", approval: "allowed" })
  })
})

describe("an answer", () => {
  test("[MP32] that doesn't fit the form is refused with the name of the field, and the call is still waiting", async () => {
    const client = await openAsking("mi-bad", { asks: [{ who: FORM }] })
    const { call_id: id = "" } = (await askUser(client)) ?? {}
    const bad: readonly (readonly [string, object])[] = [
      ["name", { ...FIELDS, name: "A" }],
      ["name", { seats: 1, class: "eco" }],
      ["email", { ...FIELDS, email: "ada" }],
      ["day", { ...FIELDS, day: "2026-13-01" }],
      ["seats", { ...FIELDS, seats: 1.5 }],
      ["seats", { ...FIELDS, seats: 3 }],
      ["class", { ...FIELDS, class: "second" }],
      ["meals", { ...FIELDS, meals: ["Lunch", "Lunch"] }],
      ["meals", { ...FIELDS, meals: ["Tea"] }],
      ["window", { ...FIELDS, window: "yes" }],
      ["other", { ...FIELDS, other: "x" }],
      ["name", { ...FIELDS, name: "x".repeat(41) }],
    ]
    for (const [field, content] of bad)
      expect(await answer(client, id, accept(content)), field).toEqual(refusal(400, "field_invalid", field))
    for (const body of [{}, { input: "1-1", action: "cancel" }, { input: "1-1", action: "accept" }])
      expect((await answer(client, id, body)).status).toBe(400)
    expect(callOf(client)?.input?.id).toBe("1-1")
  })

  test("[MP32] is final: sending the same one again is accepted, and a different one is refused", async () => {
    const client = await openAsking("mi-once", { asks: [{ a: YES, b: YES }] })
    const { call_id: id = "" } = (await askUser(client)) ?? {}
    for (let n = 0; n < 2; n++) expect((await answer(client, id, accept({ sure: true }))).status).toBe(204)
    expect(await answer(client, id, accept({ sure: false }))).toEqual(refusal(409, "call_decided"))
    expect(await answer(client, id, accept({ sure: false }, "2-1"))).toEqual(refusal(409, "call_decided"))
    expect((await answer(client, "c-none", accept({}))).status).toBe(404)
    expect((await answer(client, id, accept({ sure: true }, "1-2"))).status).toBe(204)
    await client.untilEnd("q1")
    expect(resultOf(client).answers).toMatchObject({ a: { content: { sure: true } }, b: { action: "accept" } })
  })

  test("[MP32] is accepted only from the owner", async () => {
    const client = await openAsking("mi-own", { asks: [{ a: YES }] })
    const { call_id: id = "" } = (await askUser(client)) ?? {}
    expect(await answer(client, id, accept({ sure: true }), "eve")).toEqual(refusal(404, "session_unknown"))
    expect(callOf(client)?.status).toBe("waiting")
  })

  test("[MP32] is `cancel` when the user sends another message, and the turn ends", async () => {
    const client = await openAsking("mi-next", { asks: [{ a: YES, b: YES }] })
    const { call_id: id = "" } = (await askUser(client)) ?? {}
    expect((await answer(client, id, { input: "1-1", action: "decline" })).status).toBe(204)
    client.say({ type: "send", id: "q2", content: script([say("Next.")]) })
    await client.untilEnd("q2")
    expect(callOf(client)).toMatchObject({ status: "ok" })
    expect(resultOf(client).answers).toEqual({ a: { action: "decline" }, b: { action: "cancel" } })
  })

  test("[MP32] is `cancel` when the time limit has passed", async () => {
    const client = await openAsking("mi-late", { asks: [{ a: YES }] })
    await askUser(client)
    await runInDurableObject(objectOf(client), (_object, { storage }) => {
      const { deadline } = storage.sql.exec("SELECT deadline FROM transcript WHERE status = 'waiting'").one()
      expect(Number(deadline)).toBeGreaterThan(Date.now() + 24 * 60 * 60_000)
      storage.sql.exec("UPDATE transcript SET deadline = ? WHERE status = 'waiting'", Date.now() - 1)
    })
    await evictDurableObject(objectOf(client))
    await runDurableObjectAlarm(objectOf(client))
    await client.untilEnd("q1")
    expect(resultOf(client).answers).toEqual({ a: { action: "cancel" } })
  })

  test("[MP32] is not sent when the user stops the turn", async () => {
    const client = await openAsking("mi-stop", { asks: [{ a: YES }] })
    await askUser(client)
    const before = (await seenAt("mi-stop")).length
    client.say({ type: "cancel", exchange_id: "q1" })
    await client.untilEnd("q1")
    expect(callOf(client)).toMatchObject({ status: "interrupted" })
    expect(callOf(client)).not.toHaveProperty("input")
    expect(await seenAt("mi-stop")).toHaveLength(before)
    expect(await storedIn(client)).toEqual([])
  })
})

test("[MP33] neither the state nor the answers are in frames, exports or history", async () => {
  const client = await openAsking("mi-seal", { asks: [{ a: FORM }, { b: YES }] })
  const { call_id: id = "" } = (await askUser(client)) ?? {}
  expect((await answer(client, id, accept({ ...FIELDS, name: "Grace Hopper" }))).status).toBe(204)
  await untilAsked(client, "q1", "2-1")
  const token = await roleToken("mi-seal", "ada", "member")
  const path = `/v1/sessions/${client.session}`
  const texts = [
    JSON.stringify([...client.messages.values()]),
    (await call(`${path}/conversation/recent?limit=5`, { token })).text,
    (await call(`${path}/export`, { token })).text,
    (await call(`${path}/export?format=markdown`, { token })).text,
  ]
  for (const text of texts) {
    expect(text.length).toBeGreaterThan(20)
    expect(text).not.toContain("round 0")
    expect(text).not.toContain("round 1")
    expect(text).not.toContain("Grace Hopper")
  }
})

test("[MP35] the capability to answer questions isn't declared to a server that uses protocol version 2025-11-25", {
  timeout: 60_000,
}, async () => {
  const listed = await putServer("mi-old", "all", { url: await startEverything() })
  expect(listed).toMatchObject({ protocol: "2025-11-25" })
  // The server offers its asking tool only to clients with this capability.
  const names = listed.offered.map(({ name }: { readonly name: string }) => name)
  expect(names).toContain("echo")
  expect(names).not.toContain("trigger-elicitation-request")
})

test("[MP35] a call in the session of an asked agent can't ask questions, because no user can answer", async () => {
  const client = await openAsking("mi-agent", { asks: [{ a: YES }] })
  const token = await roleToken("mi-agent", "root", "admin")
  const agent = { description: "d", prompt: "p", tools: ["agents_message"] }
  await call("/v1/agents/boss", { method: "PUT", token, body: JSON.stringify(agent) })
  const body = JSON.stringify({ agent: "boss" })
  const made = await call("/v1/sessions", { method: "POST", token: await roleToken("mi-agent", "ada", "member"), body })
  const claims = { tenant: "mi-agent", user: "ada", expires: 4_000_000_000, token: null, issued: 0 }
  const boss = await connect(made.json.id, claims)
  const inner = script([toolCall("trips_ask", { text: "x" })], [say("Inner.")])
  const content = script([toolCall("agents_message", { agent: "helper", message: inner })], [say("Done.")])
  boss.say({ type: "send", id: "b1", content })
  await boss.untilEnd("b1")
  expect(toolsIn(answerTo(boss, "b1"))).toMatchObject([{ status: "ok", result: expect.stringContaining("Inner.") }])
  expect(client.session).not.toBe("")
  const calls = (await seenAt("mi-agent")).filter(({ method }) => method === "tools/call")
  expect(calls).toHaveLength(1)
})

test("[MP33] a kill between the answer and the repeated call doesn't end the turn, and the call is still made", () => {
  const form = { id: "1-1", server: "trips", message: "Sure?", fields: [] }
  const events: readonly TurnEvent[] = [
    { type: "step_start" },
    { type: "tool_call", call_id: "c1", name: "trips_ask", args: "{}" },
    { type: "tool_call_start", call_id: "c1", channel: "user", ordinal: 1 },
    { type: "tool_input", call_id: "c1", input: form },
  ]
  const empty = createMessage({ id: "a", role: "assistant", exchange_id: "q1", timestamp: "" })
  const asking = events.reduce(fold, empty)
  expect([asking.status, listCalls(asking)[0]]).toMatchObject(["waiting", { status: "waiting", input: form }])
  expect(planRecovery(asking, () => false)).toEqual([])
  const answered = fold(asking, { type: "tool_input", call_id: "c1", input: null })
  expect([answered.status, listCalls(answered)[0]?.status]).toEqual(["running", "queued"])
  expect(planRecovery(answered, () => false)).toEqual([])
  const next = decideNextAction(answered, { isInFlight: () => false, needsApproval: () => false })
  expect(next).toMatchObject({ do: "dispatch", calls: [{ call_id: "c1", ordinal: 1 }] })
  // An answer that arrives twice, or after the result, must change nothing.
  expect(fold(answered, { type: "tool_input", call_id: "c1", input: null })).toBe(answered)
})
