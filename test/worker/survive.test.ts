/** survive.test.ts: tests turns with cancels, withdrawals, restarts and deadlines, with real workerd and SQLite. */

import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { PROTOCOL_VERSION } from "../../shared/limits.ts"
import { findContentFault } from "../../worker/turn/accept-message.ts"
import { createSessionStore } from "../../worker/store/session-store.ts"
import {
  answerTo,
  beginTurn,
  call,
  expectSame,
  freshSession as fresh,
  pause,
  say,
  script,
  think,
  toolsIn,
} from "./session-helpers.ts"
import { readUpstream } from "../support/upstream-client.ts"
import { CLAIMS, connect, pageOf, sessionOf } from "../support/socket.ts"

const LONG = 5_000
const freshSession = (): Promise<string> => fresh("v")

describe("cancelling", () => {
  test.each([
    ["thinking", script([think("hm "), pause(LONG), think("late")]), 1],
    ["text", script([say("shown "), pause(LONG), say("late")]), 1],
    ["a tool", script([say("I look. "), call("probe_slow", { ms: LONG })]), 2],
    ["two tools", script([call("probe_slow", { ms: LONG }), call("probe_stream", { lines: 99, ms: 100 })]), 2],
    ["a card", script([call("weather", { location: "London" })], [say("<span id='weather_1'>It is"), pause(LONG)]), 2],
  ])("[CN1] during %s keeps what was shown and adds nothing, live and stored", async (_name, content, segments) => {
    const id = await freshSession()
    const client = await connect(id)
    await beginTurn(client, "q1", content, segments)
    const second = await connect(id)
    client.say({ type: "cancel", exchange_id: "q1" })
    await client.untilTrue((frame) => frame.type === "ack" && frame.id === "q1" && frame.seq > 2)
    const answer = await client.untilEnd("q1")
    expect(answer).toMatchObject({ status: "cancelled", reason: null })
    for (const tool of toolsIn(answer)) {
      if (tool.name !== "weather")
        expect(tool).toMatchObject({ status: "interrupted", error: { code: "tool_interrupted" } })
    }
    await evictDurableObject(sessionOf(id))
    const [, stored] = await expectSame(id, client)
    expect(JSON.stringify(stored)).not.toContain("late")
    // Nothing may revive the cancelled turn, and the next turn must work.
    await runDurableObjectAlarm(sessionOf(id))
    second.say({ type: "send", id: "q2", content: "/say fine" })
    expect(await second.untilEnd("q2")).toMatchObject({ status: "completed" })
    expect((await pageOf(id)).messages[1]).toEqual(stored)
  })

  test("[CN2] twice has no further effect; cancelling an ended or unknown answer is an error", async () => {
    const id = await freshSession()
    const client = await connect(id)
    await beginTurn(client, "q1", script([say("x"), pause(LONG)]))
    client.say({ type: "cancel", exchange_id: "q1" })
    client.say({ type: "cancel", exchange_id: "q1" })
    await client.untilTrue(() => client.frames.filter((one) => one.type === "ack" && one.id === "q1").length === 3)
    const ends = client.texts.filter((text) => text.includes('"op":"end"'))
    expect(ends).toHaveLength(1)
    client.say({ type: "send", id: "q2", content: "/say done" })
    await client.untilEnd("q2")
    const { seq } = await pageOf(id)
    client.say({ type: "cancel", exchange_id: "q2" })
    expect(await client.untilTrue((frame) => frame.type === "error")).toMatchObject({ code: "turn_ended", id: "q2" })
    client.say({ type: "cancel", exchange_id: "nobody" })
    expect(await client.untilTrue((frame) => frame.type === "error" && frame.id === "nobody")).toMatchObject({
      code: "turn_unknown",
    })
    expect((await pageOf(id)).seq).toBe(seq)
  })

  test("[CN2] cancels the newest version if an exchange has several", async () => {
    const id = await freshSession()
    const client = await connect(id)
    const first = await beginTurn(client, "q1", script([say("x"), pause(300), say("y")]))
    client.say({ type: "cancel", exchange_id: "q1" })
    await client.untilEnd("q1")
    client.say({ type: "regenerate", id: "r1", message: first.id })
    await expect.poll(async () => (await pageOf(id)).messages[1]).toMatchObject({ id: "r1", status: "completed" })
    expect(await sessionOf(id).cancel(CLAIMS, "q1")).toEqual({ ok: false, fault: { reason: "turn_ended" } })
    client.say({ type: "regenerate", id: "r2", message: "r1" })
    await expect.poll(async () => (await pageOf(id)).messages[1]?.id).toBe("r2")
    expect(await sessionOf(id).cancel(CLAIMS, "q1")).toMatchObject({ ok: true })
    expect(await sessionOf(id).cancel(CLAIMS, "q1")).toMatchObject({ ok: true })
  })

  test("[CN3] works right after the send has been acknowledged, before anything is shown", async () => {
    const id = await freshSession()
    const client = await connect(id)
    client.say({ type: "send", id: "q1", content: script([pause(LONG), say("late")]) })
    client.say({ type: "cancel", exchange_id: "q1" })
    expect(await client.untilEnd("q1")).toMatchObject({ status: "cancelled", segments: [] })
    await expectSame(id, client)
  })

  test("[CN4] lets the queue continue", async () => {
    const id = await freshSession()
    const client = await connect(id)
    await beginTurn(client, "q1", script([say("x"), pause(LONG)]))
    client.say({ type: "send", id: "q2", content: "/say next" })
    client.say({ type: "cancel", exchange_id: "q1" })
    expect(await client.untilEnd("q2")).toMatchObject({ status: "completed", segments: [{ content: "next" }] })
    await expectSame(id, client)
  })

  test("[CN5] works over HTTP for a named exchange, or for the running one", async () => {
    const id = await freshSession()
    const client = await connect(id)
    await beginTurn(client, "q1", script([say("x"), pause(LONG)]))
    expect(await sessionOf(id).cancel(CLAIMS, null)).toMatchObject({ ok: true, value: { exchange_id: "q1" } })
    expect(await sessionOf(id).cancel(CLAIMS, "q1")).toMatchObject({ ok: true })
    expect(await sessionOf(id).cancel(CLAIMS, null)).toEqual({ ok: false, fault: { reason: "turn_ended" } })
    const otherUser = { ...CLAIMS, user: "eve" }
    expect(await sessionOf(id).cancel(otherUser, "q1")).toEqual({ ok: false, fault: { reason: "session_unknown" } })
    expect(await client.untilEnd("q1")).toMatchObject({ status: "cancelled" })
  })
})

describe("the queue", () => {
  test("[QU1] a queued message can be withdrawn, and sending its id again does not restore it", async () => {
    const id = await freshSession()
    const client = await connect(id)
    await beginTurn(client, "q1", script([say("x"), pause(400)]))
    for (const other of ["q2", "q3"]) client.say({ type: "send", id: other, content: `/say ${other}` })
    client.say({ type: "withdraw", id: "w1", message: "q2" })
    await client.untilTrue((frame) => frame.type === "ack" && frame.id === "w1")
    expect(client.messages.get("q2")).toMatchObject({ status: "cancelled" })
    client.say({ type: "withdraw", id: "w2", message: "q2" })
    client.say({ type: "send", id: "q2", content: "/say q2" })
    await client.untilEnd("q3")
    const messages = (await pageOf(id)).messages
    expect(messages.map((message) => message.exchange_id)).toEqual(["q1", "q1", "q3", "q3"])
    expect(client.frames.filter((one) => one.type === "ack" && one.id === "q2")).toHaveLength(2)
    client.say({ type: "withdraw", id: "w3", message: "q3" })
    await client.untilTrue((frame) => frame.type === "error" && frame.code === "message_begun" && frame.id === "w3")
    client.say({ type: "withdraw", id: "w4", message: "nobody" })
    await client.untilTrue((frame) => frame.type === "error" && frame.code === "message_unknown" && frame.id === "w4")
  })

  test("[QU2] a client that was away is notified that a message was withdrawn", async () => {
    const id = await freshSession()
    const client = await connect(id)
    await beginTurn(client, "q1", script([say("x"), pause(600)]))
    client.say({ type: "send", id: "q2", content: "/say q2" })
    await client.untilTrue((frame) => frame.type === "message" && frame.id === "q2")
    const { epoch } = await pageOf(id)
    const after = client.last
    client.say({ type: "withdraw", id: "w1", message: "q2" })
    await client.untilTrue((frame) => frame.type === "ack" && frame.id === "w1")
    await client.untilEnd("q1")
    await evictDurableObject(sessionOf(id))
    const again = await connect(id, CLAIMS, null)
    again.last = after
    again.say({ type: "hello", protocol: PROTOCOL_VERSION, live: true, epoch, after })
    await again.untilTrue((frame) => frame.type === "message" && frame.id === "q2")
    expect(again.messages.get("q2")).toMatchObject({ role: "user", status: "cancelled", segments: [] })
  })
})

describe("side effects", () => {
  const countDispatched = async (key: string): Promise<number> => (await readUpstream(env, key)).length

  test("[TU4] a tool with a side effect that ran when the process ended isn't dispatched again, and this is reported to the model", async () => {
    const id = await freshSession()
    const key = `cut-${id}`
    const client = await connect(id)
    const effect = call("probe_effect", { key, ms: LONG })
    await beginTurn(client, "q1", script([say("I pay. "), effect], [say("It was cut.")]), 2)
    await expect.poll(() => countDispatched(key)).toBe(1)
    await runInDurableObject(sessionOf(id), (_object, state) => state.abort("killed")).catch(() => {})
    const readAnswer = async () => (await pageOf(id)).messages[1]
    await expect.poll(async () => (await readAnswer())?.status).toBe("completed")
    expect(toolsIn(await readAnswer())).toMatchObject([{ status: "interrupted", error: { code: "tool_interrupted" } }])
    expect(await countDispatched(key)).toBe(1)
  })

  test("[AP3] a call that is allowed three times runs once", async () => {
    const id = await freshSession()
    const key = `thrice-${id}`
    const client = await connect(id)
    await beginTurn(client, "q1", script([call("probe_ask", { key, ms: 50 })], [say("Done.")]))
    await client.untilTrue(() => answerTo(client, "q1")?.status === "waiting")
    const [tool] = toolsIn(answerTo(client, "q1"))
    for (let i = 0; i < 3; i++) client.say({ type: "approve", call_id: tool?.call_id ?? "", decision: "allow" })
    expect((await client.untilEnd("q1")).status).toBe("completed")
    expect(await countDispatched(key)).toBe(1)
  })
})

test("[TU12] a turn ends if a step shows nothing to the user", async () => {
  const id = await freshSession()
  const client = await connect(id)
  for (const [i, blank] of ["\n", "<!-- nothing -->"].entries()) {
    client.say({ type: "send", id: `q${i}`, content: script([call("weather", { location: "Oslo" })], [say(blank)]) })
    expect(await client.untilEnd(`q${i}`)).toMatchObject({ status: "completed", metrics: { steps: 2 } })
  }
  await expectSame(id, client)
})

test("[TO11] the output of a tool that runs again after a restart is shown once", async () => {
  const id = await freshSession()
  const client = await connect(id)
  const stream = call("probe_stream", { lines: 6, ms: 120 })
  await beginTurn(client, "q1", script([stream, call("probe_slow", { ms: 1 })], [say("Done.")]), 2)
  await client.untilTrue(() => (toolsIn(answerTo(client, "q1"))[0]?.output ?? "").includes("line 2"))
  await runInDurableObject(sessionOf(id), (_object, state) => state.abort("killed")).catch(() => {})
  const { epoch, seq, messages } = await pageOf(id)
  const again = await connect(id, CLAIMS, null)
  for (const message of messages) again.messages.set(message.id, message)
  again.last = seq
  again.say({ type: "hello", protocol: PROTOCOL_VERSION, live: true, epoch, after: seq })
  const answer = await again.untilEnd("q1")
  expect(toolsIn(answer)[0]?.output).toBe(Array.from({ length: 6 }, (_, i) => `line ${i + 1} of 6\n`).join(""))
  await expectSame(id, again)
})

describe("deadlines", () => {
  test("[TU11] a turn whose deadline passed while no process was running is ended by the next process", async () => {
    const id = await freshSession()
    const client = await connect(id)
    await beginTurn(client, "q1", script([say("x"), pause(400)], [say("y")]))
    const deadline = await runInDurableObject(
      sessionOf(id),
      (_o, { storage }) => createSessionStore(storage.sql).findMessageAt(2)?.deadline,
    )
    expect(deadline).toBeGreaterThan(Date.now())
    await client.untilEnd("q1")
    await runInDurableObject(sessionOf(id), (_object, { storage }) => {
      expect(createSessionStore(storage.sql).findMessageAt(2)?.deadline).toBeNull()
      // Recreate the state of a process that was killed between two steps, long ago.
      storage.sql.exec("UPDATE transcript SET status = 'running', deadline = ? WHERE pos = 2", Date.now() - 1)
      storage.sql.exec("DELETE FROM leaf WHERE pos = 2")
    })
    await evictDurableObject(sessionOf(id))
    await expect
      .poll(async () => (await pageOf(id)).messages[1])
      .toMatchObject({ status: "failed", reason: "turn_timeout" })
  })
})

test("[TU10] a message is refused only if it is too long for the model", async () => {
  const id = await freshSession()
  const client = await connect(id)
  client.say({ type: "send", id: "q1", content: "\u00e9".repeat(32_000) })
  client.say({ type: "send", id: "q2", content: "\u{1F600}".repeat(16_000) })
  await client.untilEnd("q1")
  const response = await client.untilTrue(
    (frame) => frame.type === "error" || (frame.type === "ack" && frame.id === "q2"),
  )
  expect(response.type).toBe("ack")
  expect(findContentFault("\u6771".repeat(9), 8)).toEqual({ reason: "context_exceeded", max: 8 })
  expect(findContentFault("\u6771".repeat(8), 8)).toBeNull()
})
