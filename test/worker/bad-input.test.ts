/** bad-input.test.ts: tests that invalid input gets the right error, changes nothing, and leaves the socket open. */

import { evictDurableObject, runInDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { MAX_ANSWER_CHARS, MAX_TEXT_CHUNK_CHARS, PROTOCOL_VERSION } from "../../shared/limits.ts"
import { createMessage } from "../../shared/protocol/message.ts"
import { createSessionStore } from "../../worker/store/session-store.ts"
import { CLAIMS, connect, pageOf, sessionOf } from "../support/socket.ts"
import { placed, TIME } from "../support/turn.ts"
import { answerTo, beginTurn, call, freshSession as fresh, say, script, toolsIn } from "./session-helpers.ts"

const freshSession = (): Promise<string> => fresh("bad")

describe("bad input", () => {
  test.each([
    ["beyond the last seq", 99, "frame_invalid"],
    ["negative", -1, "frame_invalid"],
    ["a fraction", 0.5, "frame_invalid"],
    ["a word", "two", "frame_invalid"],
    ["null", null, "frame_invalid"],
  ])("[WS7] a hello whose `after` is %s gets an error and leaves the socket open", async (_name, after, code) => {
    const id = await freshSession()
    const { epoch, seq } = await pageOf(id)
    const client = await connect(id, CLAIMS, null)
    client.say(JSON.stringify({ type: "hello", protocol: PROTOCOL_VERSION, live: true, epoch, after }))
    expect(await client.untilTrue((frame) => frame.type === "error")).toMatchObject({ code })
    client.say({ type: "hello", protocol: PROTOCOL_VERSION, live: true, epoch, after: seq })
    await client.untilTrue((frame) => frame.type === "hello")
    client.say({ type: "send", id: "q1", content: "/say fine" })
    expect((await client.untilEnd("q1")).status).toBe("completed")
  })

  test("[WS7] a hello with an unknown epoch is answered with the current epoch, whatever `after` is", async () => {
    const id = await freshSession()
    const { epoch } = await pageOf(id)
    const client = await connect(id, CLAIMS, null)
    client.say({ type: "hello", protocol: PROTOCOL_VERSION, live: true, epoch: "elsewhere", after: 7 })
    expect(await client.untilTrue((frame) => frame.type === "hello")).toMatchObject({ epoch, seq: 0 })
  })

  test("[CN2] [AP3] ids from another session are unknown in this one and have no effect in the other", async () => {
    const [here, there] = [await freshSession(), await freshSession()]
    const [client, other] = [await connect(here), await connect(there)]
    await beginTurn(other, "q1", script([call("probe_ask")], [say("ok")]))
    await other.untilTrue(() => answerTo(other, "q1")?.status === "waiting")
    const call_id = toolsIn(answerTo(other, "q1"))[0]?.call_id ?? ""
    client.say({ type: "cancel", exchange_id: "q1" })
    await client.untilTrue((frame) => frame.type === "error" && frame.code === "turn_unknown")
    client.say({ type: "approve", call_id, decision: "allow" })
    await client.untilTrue((frame) => frame.type === "error" && frame.code === "call_unknown")
    expect((await pageOf(there)).messages[1]?.status).toBe("waiting")
  })

  test("[WS9] a client with `live: false` is notified when an answer waits for the user", async () => {
    const id = await freshSession()
    const client = await connect(id, CLAIMS, { live: false })
    client.say({ type: "send", id: "q1", content: script([call("probe_ask")], [say("ok")]) })
    await client.untilTrue((frame) => frame.type === "message" && frame.status === "waiting")
    expect(client.frames.some((frame) => frame.type === "ops")).toBe(false)
  })
})

describe("ids", () => {
  test("[WS8] [VE6] an id that is already used for something else is refused, and nothing is silently lost", async () => {
    const id = await freshSession()
    const client = await connect(id)
    client.say({ type: "send", id: "q1", content: "/say one" })
    const answer = await client.untilEnd("q1")
    const expectRefused = async (frame: Parameters<typeof client.say>[0] & { id: string }): Promise<void> => {
      const before = client.frames.length
      client.say(frame)
      await client.untilTrue(() =>
        client.frames.slice(before).some((reply) => reply.type === "error" && reply.id === frame.id),
      )
    }
    await expectRefused({ type: "send", id: answer.id, content: "lost?" })
    await expectRefused({ type: "regenerate", id: "q1", message: answer.id })
    await expectRefused({ type: "edit", id: answer.id, message: "q1", content: "x" })
    await expectRefused({ type: "switch", id: "q1", message: answer.id, version: 1 })
    expect((await pageOf(id)).messages).toHaveLength(2)
  })

  test("[QU1] a withdrawn message can't be replied to", async () => {
    const id = await freshSession()
    const client = await connect(id)
    await beginTurn(client, "q1", "/bench deltas=40 delay_ms=10")
    client.say({ type: "send", id: "q2", content: "/say two" })
    client.say({ type: "withdraw", id: "w1", message: "q2" })
    client.say({ type: "send", id: "q3", content: "/say three", reply_to: "q2" })
    const error = await client.untilTrue((frame) => frame.type === "error")
    expect(error).toMatchObject({ code: "frame_invalid", id: "q3" })
    await client.untilEnd("q1")
  })
})

test("[WS12] a socket is closed if its client keeps requesting history without confirming receipt", async () => {
  const id = await freshSession()
  await runInDurableObject(sessionOf(id), (_object, { storage }) => {
    const store = createSessionStore(storage.sql)
    for (let pos = 1; pos <= 50; pos++) {
      const head = { id: `u${pos}`, role: "user", exchange_id: `u${pos}`, timestamp: TIME } as const
      const message = createMessage({ ...head, status: "completed", words: "w".repeat(30_000) })
      store.insertMessage(placed(message, { pos, parent: pos === 1 ? null : pos - 1, seq: pos }))
    }
  })
  await evictDurableObject(sessionOf(id))
  const { epoch } = await pageOf(id, { limit: 1 })
  const client = await connect(id, CLAIMS, null)
  // Listen on the socket itself, because the test client rejects repeated seqs and this test requests them.
  const closed = new Promise<number>((resolve) => {
    client.socket.addEventListener("close", ({ code }) => resolve(code))
  })
  for (let i = 0; i < 12; i++) {
    client.say({ type: "hello", protocol: PROTOCOL_VERSION, live: false, epoch, after: 1 })
  }
  expect(await closed).toBe(4408)
  expect(client.texts.reduce((sum, text) => sum + text.length, 0)).toBeLessThan(20_000_000)
})

test("[TU13] a delta of 5 MB is cut to the length limit of an answer before it is stored", async () => {
  const id = await freshSession()
  const client = await connect(id, CLAIMS, { live: false })
  client.say({ type: "send", id: "q1", content: "/bench deltas=1 chars=5000000 delay_ms=0" })
  const answer = await client.untilEnd("q1")
  expect(answer).toMatchObject({ status: "failed", reason: "answer_too_long" })
  const [segment] = answer.segments
  expect(segment?.type === "text" ? segment.content.length : 0).toBeLessThanOrEqual(MAX_ANSWER_CHARS)
})

test("[TU13] an endless answer is cut off at MAX_ANSWER_CHARS and stored in chunks of full size", async () => {
  const id = await freshSession()
  const client = await connect(id, CLAIMS, { live: false })
  client.say({ type: "send", id: "q1", content: "/bench deltas=4000 chars=400 delay_ms=0" })
  const answer = await client.untilEnd("q1")
  expect(answer).toMatchObject({ status: "failed", reason: "answer_too_long" })
  const [segment] = answer.segments
  const chars = segment?.type === "text" ? segment.content.length : 0
  expect(chars).toBeGreaterThan(MAX_ANSWER_CHARS - 1_000)
  expect(chars).toBeLessThan(MAX_ANSWER_CHARS + 1_000)
  const { leaves } = await runInDurableObject(sessionOf(id), (_object, { storage }) => ({
    leaves: createSessionStore(storage.sql).readChunkRows(2),
  }))
  expect(leaves.length).toBe(Math.ceil(chars / MAX_TEXT_CHUNK_CHARS))
})
