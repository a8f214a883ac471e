/** late-changes.test.ts: tests changes to a message that has ended, and which clients receive them. */

import { evictDurableObject, runInDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { MAX_LATE_CHANGES } from "../../shared/limits.ts"
import { createMessage } from "../../shared/protocol/message.ts"
import { readChangesSince } from "../../worker/socket/history-pages.ts"
import { TurnRecorder } from "../../worker/turn/turn-recorder.ts"
import { createSessionStore } from "../../worker/store/session-store.ts"
import { CLAIMS, connect, pageOf, sessionOf } from "../support/socket.ts"
import { answerOf, callOf, placed, resultOf, startOf } from "../support/turn.ts"
import { freshSession, shownOf } from "./session-helpers.ts"

/** Stores a question, an answer with an open call, and `after` further messages. */
async function fillSession(id: string, after: number): Promise<void> {
  await runInDurableObject(sessionOf(id), (_object, { storage }) => {
    const store = createSessionStore(storage.sql)
    const head = { exchange_id: "q", timestamp: "2026-01-01T00:00:00.000Z", status: "completed" } as const
    const insertAt = (pos: number, message: ReturnType<typeof createMessage>): void =>
      store.insertMessage(placed(message, { pos, parent: pos === 1 ? null : pos - 1, seq: pos }))
    const open = answerOf({ type: "step_start" }, callOf("slow"), startOf())
    const stored = { ...open, ...head, id: "a1" }
    insertAt(1, createMessage({ ...head, id: "q1", role: "user", words: "one" }))
    insertAt(2, stored)
    for (const [at, part] of stored.parts.entries())
      if (part.type === "tool_call") store.putCall(2, at, part.step, 2, part.call)
    for (let pos = 3; pos < 3 + after; pos++) {
      const role = pos % 2 === 1 ? "user" : "assistant"
      insertAt(pos, createMessage({ ...head, id: `m${pos}`, role, words: role === "user" ? "more" : "" }))
    }
  })
  // Evict the object, so that it reads its newest seq again.
  await evictDurableObject(sessionOf(id))
}

/** Adds the result of the open call, as a late answer does. */
function settleLate(id: string, times = 1): Promise<void> {
  return runInDurableObject(sessionOf(id), (_object, { storage }) => {
    const store = createSessionStore(storage.sql)
    for (let i = 0; i < times; i++) {
      const stored = store.findMessageAt(2)
      if (stored === null) throw new Error("the answer is gone")
      const recorder = new TurnRecorder(store, stored, () => store.readLastSeq() + 1)
      recorder.feed(resultOf('{"done":true}'))
      expect(recorder.flush()).not.toBeNull()
    }
  })
}

describe("a late result", () => {
  test("[HI5] of an old message is sent once, with the next resume, and then the tab shows what a reload shows", async () => {
    const id = await freshSession("late")
    await fillSession(id, 40)
    const { epoch, seq, messages } = await pageOf(id)
    expect(messages).toHaveLength(42)
    await settleLate(id)
    await evictDurableObject(sessionOf(id))
    const client = await connect(id, CLAIMS, { epoch, after: seq })
    client.last = seq
    const frame = await client.until((next) => next.type === "message")
    expect(frame).toMatchObject({ id: "a1", segments: [{ type: "tool", status: "ok", result: '{"done":true}' }] })
    const page = await pageOf(id)
    expect(client.messages.size).toBe(1)
    const [shown, stored] = [client.messages.get("a1"), page.messages.find((message) => message.id === "a1")]
    expect(shown && shownOf(shown)).toBe(stored && shownOf(stored))
    // A client that already has the change must not receive it again.
    await runInDurableObject(sessionOf(id), (_object, { storage }) => {
      expect(readChangesSince(createSessionStore(storage.sql), page.seq)).toEqual([])
    })
  })

  test("[HI5] of a version that isn't shown isn't sent", async () => {
    const id = await freshSession("late")
    await fillSession(id, 4)
    const { seq } = await pageOf(id)
    await settleLate(id)
    await runInDurableObject(sessionOf(id), (_object, { storage }) => {
      const store = createSessionStore(storage.sql)
      expect(readChangesSince(store, seq)?.map(({ message }) => message.id)).toEqual(["a1"])
      // Give the first question another answer, so that the message is no longer on the active path.
      const head = { id: "other", role: "assistant", exchange_id: "q", timestamp: "2026-01-01T00:00:00.000Z" } as const
      store.insertMessage(placed(createMessage({ ...head, status: "completed" }), { pos: 99, parent: 1, seq: 1 }))
      expect(readChangesSince(createSessionStore(storage.sql), seq)).toEqual([])
    })
  })

  test("[HI5] is remembered only if it is among the newest MAX_LATE_CHANGES; a client that was away for longer reads history", async () => {
    const id = await freshSession("late")
    await fillSession(id, 4)
    const { seq } = await pageOf(id)
    await runInDurableObject(sessionOf(id), (_object, { storage }) => {
      const store = createSessionStore(storage.sql)
      for (let i = 1; i <= MAX_LATE_CHANGES + 20; i++) store.recordLateChange(seq + i, 2)
      expect(storage.sql.exec("SELECT count(*) AS n FROM late").one()["n"]).toBe(MAX_LATE_CHANGES)
      expect(readChangesSince(store, seq)).toBeNull()
      expect(store.readLateChanges(seq + 30)).toEqual([2])
    })
  })
})
