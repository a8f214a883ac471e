/**
 * streams.test.ts: plays generated streams on real SQLite. Each event goes to a new recorder that knows only the rows,
 * and the live state must equal the rows after every event. Then the session is exported and imported into another one.
 */

import { evictDurableObject, runInDurableObject } from "cloudflare:test"
import fc from "fast-check"
import { expect, test } from "vitest"
import type { TurnEvent } from "../../shared/protocol/event.ts"
import { apply } from "../../shared/protocol/apply-ops.ts"
import type { Segment } from "../../shared/protocol/segment.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { toCanonicalJson } from "../../shared/json.ts"
import { createIntake } from "../../shared/ingest/intake.ts"
import { fold, createMessage } from "../../shared/protocol/message.ts"
import { messageToWire, segmentsOf } from "../../shared/segment/segmenter.ts"
import { TurnRecorder } from "../../worker/turn/turn-recorder.ts"
import { createSessionStore } from "../../worker/store/session-store.ts"
import { assertProperty } from "../support/seeded.ts"
import { CLAIMS, pageOf, sessionOf } from "../support/socket.ts"
import { cutDeltas, eventArb } from "../support/stream-events.ts"
import { placed } from "../support/turn.ts"
import { exportOf } from "./export-sample.ts"
import { freshSession } from "./session-helpers.ts"

/**
 * Number of generated streams. There are fewer than in tests without a database, because each event executes several
 * SQL statements.
 */
const STREAMS = 400
const END: TurnEvent = { type: "end", status: "interrupted", reason: null, metrics: null }

/** Plays a stream into the message at `pos`. Returns the segments that are shown at the end. */
function playEvents(storage: DurableObjectStorage, pos: number, events: readonly TurnEvent[]): readonly Segment[] {
  const store = createSessionStore(storage.sql, (write) => storage.transactionSync(write))
  const head = { id: `m${pos}`, exchange_id: `m${pos - 1}`, timestamp: "2026-01-01T00:00:00.000Z" } as const
  const [question, answer] = [
    createMessage({ ...head, id: head.exchange_id, role: "user" }),
    createMessage({ ...head, role: "assistant" }),
  ]
  const seq = store.readLastSeq()
  store.insertMessage(
    placed({ ...question, status: "completed", words: "go" }, { pos: pos - 1, parent: pos - 2 || null, seq: seq + 1 }),
  )
  store.insertMessage(placed(answer, { pos, parent: pos - 1, seq: seq + 2 }))
  let live: Segment[] = []
  for (const event of events) {
    // Keep only the rows, as after an eviction.
    const fresh = createSessionStore(storage.sql, (write) => storage.transactionSync(write))
    const stored = fresh.findMessageAt(pos)
    if (stored === null) throw new Error("the answer is gone")
    const recorder = new TurnRecorder(fresh, stored, () => fresh.readLastSeq() + 1)
    recorder.feed(event)
    live = apply(live, recorder.flush()?.ops ?? [])
    expect(toCanonicalJson(segmentsOf(fresh.findMessageAt(pos)?.message ?? answer))).toBe(toCanonicalJson(live))
  }
  const intake = createIntake()
  const folded = events.flatMap((event) => intake.cleanEvent(event)).reduce(fold, answer)
  expect(toCanonicalJson(live)).toBe(toCanonicalJson(segmentsOf(folded)))
  expect(toCanonicalJson(messageToWire(store.findMessageAt(pos)?.message ?? answer))).toBe(
    toCanonicalJson(messageToWire(folded)),
  )
  return live
}

test("[GO5] [RE2] any stream looks the same live, when the rows are read again at every event, and after an import into another session", async () => {
  const [here, there] = [await freshSession("any"), await freshSession("any")]
  await runInDurableObject(sessionOf(here), (_object, { storage }) => {
    let pos = 0
    assertProperty(
      fc.property(fc.array(eventArb, { maxLength: 16 }), fc.nat(40), (events, cut) => {
        pos += 2
        playEvents(storage, pos, [...cutDeltas(events, cut), END])
      }),
      STREAMS,
    )
  })
  await evictDurableObject(sessionOf(here))
  const file = await exportOf(here)
  const body = new Response(file).body
  if (body === null) throw new Error("no body")
  expect(await sessionOf(there).import(CLAIMS, body)).toMatchObject({ ok: true, value: { isSealed: true, skipped: 0 } })
  expect((await exportOf(there)).replaceAll(there, here).split("\n")).toEqual(file.split("\n"))
  expect(await shownIn(there)).toEqual(await shownIn(here))
})

/** Returns every message of a session, read page by page. */
async function shownIn(id: string): Promise<string[]> {
  const shown: WireMessage[] = []
  for (let before: number | undefined, more = true; more; ) {
    const page = await pageOf(id, { limit: 100, ...(before === undefined ? {} : { before }) })
    shown.unshift(...page.messages)
    more = page.has_more
    before = Number(page.cursor)
  }
  return shown.map((message) => toCanonicalJson(message))
}
