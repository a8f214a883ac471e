/**
 * round-trip.test.ts: tests that an export, its import and a second export have the same bytes, with real workerd,
 * SQLite and bucket.
 */

import { runInDurableObject } from "cloudflare:test"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { toCanonicalJson } from "../../shared/json.ts"
import { MAX_RESULT_BYTES } from "../../shared/limits.ts"
import type { Asset, TurnEvent } from "../../shared/protocol/event.ts"
import { MAX_RECORD_TEXT_CHARS } from "../../shared/segment/message-to-records.ts"
import type { StreamRecord } from "../../shared/protocol/record.ts"
import { createSessionStore, type SessionStore } from "../../worker/store/session-store.ts"
import { createUserMessage } from "../../worker/turn/begin-turn.ts"
import { TurnRecorder } from "../../worker/turn/turn-recorder.ts"
import { assertPropertyAsync } from "../support/seeded.ts"
import { connect, pageOf, sessionOf } from "../support/socket.ts"
import { grantEventArb } from "../support/stream-events.ts"
import { answerOf, callOf, placed, resultOf, startOf } from "../support/turn.ts"
import { exportOf } from "./export-sample.ts"
import { importFile, toJsonl } from "./import-file.ts"
import { assetOf, putAsset } from "./sample-assets.ts"
import { freshSession as fresh, toolsIn } from "./session-helpers.ts"

const freshSession = (): Promise<string> => fresh("round")
const START_MS = Date.UTC(2026, 0, 1)

interface Exchange {
  /** The earlier message that the question follows. */
  readonly after: number
  readonly hasFile: boolean
  /** The answers to the question. They are versions of one another. */
  readonly answers: readonly (readonly TurnEvent[])[]
  /** The times between events, in milliseconds. */
  readonly steps: readonly number[]
}

const exchangeArb: fc.Arbitrary<Exchange> = fc.record({
  after: fc.nat(6),
  hasFile: fc.boolean(),
  answers: fc.array(fc.array(grantEventArb, { maxLength: 14 }), { minLength: 1, maxLength: 2 }),
  steps: fc.array(fc.nat(3), { minLength: 1, maxLength: 5 }),
})

/** An asset as an upload stores it. The order of its fields differs from the parser's. */
const IMAGE: Asset = {
  width: 1,
  height: 1,
  size: 70,
  label: "p.png",
  mime_type: "image/png",
  kind: "image",
  id: "picture",
}
const GRANTED = ["p1", "p2", "s2", "t1"].map((id) => assetOf(id, id === "s2" ? { kind: "audio", voice: true } : {}))

const RESOLVER = {
  findAsset: (id: string) => GRANTED.find((asset) => asset.id === id) ?? null,
  hasMessage: (id: string) => id === "m1",
  listOrigins: () => ["https://ok.com"],
}

const END: TurnEvent = {
  type: "end",
  status: "completed",
  reason: null,
  metrics: { output_tokens: 3, steps: 1, ms: 9 },
}

/** Writes an answer as a turn does, with each event at its time and in a separate window. */
function writeAnswer(store: SessionStore, pos: number, parent: number, { events, steps, version }: Answer): number {
  let at = START_MS + pos * 1_000
  let seq = pos * 1_000
  const message = { ...answerOf(), id: `a${pos}`, exchange_id: `m${parent}`, timestamp: new Date(at).toISOString() }
  const stored = placed({ ...message, version }, { pos, parent, seq })
  store.insertMessage(stored)
  const recorder = new TurnRecorder(store, stored, () => ++seq, { resolver: RESOLVER, now: () => at })
  for (const [i, event] of [...events, END].entries()) {
    at += steps[i % steps.length] ?? 1
    recorder.feed(event)
    recorder.flush()
  }
  return pos
}

interface Answer {
  readonly events: readonly TurnEvent[]
  readonly steps: readonly number[]
  readonly version: number
}

async function fillSession(id: string, exchanges: readonly Exchange[]): Promise<void> {
  for (const asset of [IMAGE, ...GRANTED]) await putAsset(id, asset)
  await runInDurableObject(sessionOf(id), (_object, state) => {
    const store = createSessionStore(state.storage.sql)
    store.setTitle("A picnic")
    const ends: number[] = []
    let pos = 0
    for (const { after, hasFile, answers, steps } of exchanges) {
      pos += 1
      const parent = ends.length === 0 ? null : (ends[after % ends.length] ?? null)
      const question = createUserMessage(`m${pos}`, "Go", START_MS, { attachments: hasFile ? [IMAGE] : [] })
      store.insertMessage(placed(question, { pos, parent, seq: pos * 1_000 }))
      const asked = pos
      for (const [i, events] of answers.entries()) {
        pos += 1
        writeAnswer(store, pos, asked, { events, steps, version: i + 1 })
        if (i > 0) store.addVersion(asked, pos - 1, i + 1, pos)
      }
      ends.push(pos)
    }
  })
}

const recordsOf = (text: string): StreamRecord[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))

/**
 * Imports a file into a new session, and exports that session. In the export, the session id `from` replaces the new
 * one.
 */
async function importAndExport(text: string, from: string): Promise<{ readonly id: string; readonly text: string }> {
  const id = await freshSession()
  expect(await importFile(id, text)).toMatchObject({ ok: true, value: { skipped: 0, isSealed: true, state: "done" } })
  return { id, text: (await exportOf(id)).replaceAll(`"sessionId":"${id}"`, `"sessionId":"${from}"`) }
}

describe("any session", () => {
  test("[RE1] [RE42] is exported, imported and exported again as the same bytes, seal included", async () => {
    const sessions = fc.array(exchangeArb, { minLength: 1, maxLength: 4 })
    await assertPropertyAsync(
      fc.asyncProperty(sessions, async (exchanges) => {
        const from = await freshSession()
        await fillSession(from, exchanges)
        const text = await exportOf(from)
        const again = await importAndExport(text, from)
        expect(again.text.split("\n")).toEqual(text.split("\n"))
        expect(toCanonicalJson((await pageOf(again.id)).messages)).toBe(toCanonicalJson((await pageOf(from)).messages))
      }),
      100,
    )
  })
})

describe("times", () => {
  async function writeTimed(id: string, events: readonly (readonly [at: number, event: TurnEvent])[]): Promise<void> {
    await runInDurableObject(sessionOf(id), (_object, state) => {
      const store = createSessionStore(state.storage.sql)
      store.insertMessage(placed(createUserMessage("q", "Go", START_MS), { pos: 1 }))
      let [now, seq] = [START_MS, 1]
      const message = { ...answerOf(), id: "a", exchange_id: "q", timestamp: new Date(START_MS).toISOString() }
      const stored = placed(message, { pos: 2, parent: 1, seq })
      store.insertMessage(stored)
      const recorder = new TurnRecorder(store, stored, () => ++seq, { now: () => now })
      for (const [at, event] of events) {
        now = START_MS + at
        recorder.feed(event)
        recorder.flush()
      }
    })
  }

  /** Returns the records of an export as "type:call@milliseconds". */
  const listTimes = (text: string): string[] =>
    recordsOf(text).map((record) => {
      const call = "callId" in record && record.callId !== undefined ? `:${record.callId}` : ""
      return `${record.type}${call}@${Date.parse(record.timestamp ?? "") - START_MS}`
    })

  test("[RE42] are kept for each record, and calls that ran at the same time still overlap", async () => {
    const id = await freshSession()
    await writeTimed(id, [
      [10, { type: "step_start" }],
      [11, { type: "thinking_delta", delta: "Hm." }],
      [20, { type: "text_delta", delta: "Look" }],
      [21, { type: "text_delta", delta: "ing" }],
      [30, callOf("read", "c1")],
      [31, callOf("read", "c2")],
      [32, startOf("c1", 1)],
      [33, startOf("c2", 2)],
      [40, { type: "tool_output_delta", call_id: "c2", delta: "out" }],
      [50, resultOf("two", null, "c2")],
      [60, resultOf("one", null, "c1")],
      [70, { type: "step_start" }],
      [71, callOf("read", "c3")],
      [72, startOf("c3", 3)],
      [73, resultOf("three", null, "c3")],
      [80, callOf("read", "c4")],
      [81, { type: "tool_approval", call_id: "c4", approval: "asked" }],
      [90, { type: "tool_approval", call_id: "c4", approval: "allowed" }],
      [91, startOf("c4", 4)],
      [95, resultOf("four", null, "c4")],
      [99, { type: "text_delta", delta: "Done." }],
      [100, { type: "end", status: "completed", reason: null, metrics: null }],
    ])
    const text = await exportOf(id)
    expect(listTimes(text)).toEqual([
      "user_message@0",
      "thinking_start@11",
      "thinking_delta@11",
      "thinking_done@20",
      "text_delta@20",
      "text_done@30",
      "tool_call:c1@30",
      "tool_call_start:c1@32",
      "tool_call:c2@31",
      "tool_call_start:c2@33",
      "tool_output_delta:c2@50",
      "tool_result:c2@50",
      "tool_result:c1@60",
      "tool_call:c3@71",
      "tool_call_start:c3@72",
      "tool_result:c3@73",
      "tool_call:c4@80",
      "tool_approval:c4@81",
      "tool_approval:c4@90",
      "tool_call_start:c4@91",
      "tool_result:c4@95",
      "text_delta@99",
      "text_done@100",
      "assistant_message@100",
      "signature@0",
    ])
    expect(recordsOf(text).at(-2)).toMatchObject({ started: "2026-01-01T00:00:00.000Z" })
    expect((await importAndExport(text, id)).text).toBe(text)
  })

  test("[RE42] are also set in a live turn", async () => {
    const id = await freshSession()
    const client = await connect(id)
    client.say({ type: "send", id: "q1", content: "What's the weather in London and in Tokyo?" })
    await client.untilEnd("q1")
    const before = Date.now()
    const records = recordsOf(await exportOf(id))
    const calls = records.flatMap((record, n) => (record.type === "tool_call" ? [n] : []))
    const results = records.flatMap((record, n) => (record.type === "tool_result" ? [n] : []))
    expect(calls).toHaveLength(2)
    // Both calls must begin before either of them ends.
    expect(Math.max(...calls)).toBeLessThan(Math.min(...results))
    expect(new Set(records.map(({ timestamp }) => timestamp)).size).toBeGreaterThan(2)
    for (const { timestamp } of records) expect(Date.parse(timestamp ?? "")).toBeLessThanOrEqual(before)
  })
})

describe("long text and results", () => {
  async function writeLong(id: string, events: readonly TurnEvent[]): Promise<void> {
    await runInDurableObject(sessionOf(id), (_object, state) => {
      const store = createSessionStore(state.storage.sql)
      store.insertMessage(placed(createUserMessage("q", "Go", START_MS), { pos: 1 }))
      writeAnswer(store, 2, 1, { events, steps: [1], version: 1 })
    })
  }

  test("[RE43] an answer of 900,000 Chinese characters is imported again, with the same bytes", async () => {
    const id = await freshSession()
    await writeLong(id, [{ type: "text_delta", delta: "漢".repeat(900_000) }])
    const text = await exportOf(id)
    const again = await importAndExport(text, id)
    expect(again.text === text).toBe(true)
    expect((await pageOf(again.id)).messages.at(-1)?.content).toHaveLength(900_000)
    const deltas = recordsOf(text).filter((record) => record.type === "text_delta")
    expect(deltas.map((record) => ("delta" in record ? record.delta.length : 0))).toEqual([
      ...Array.from({ length: 3 }, () => MAX_RECORD_TEXT_CHARS),
      900_000 - 3 * MAX_RECORD_TEXT_CHARS,
    ])
  })

  test("[RE43] neither a delta nor a staged piece cuts a surrogate pair", async () => {
    const id = await freshSession()
    const text = `x${"😀".repeat(400_000)}`
    await writeLong(id, [
      { type: "text_delta", delta: text },
      callOf("read", "c1"),
      resultOf(`x${"😀".repeat(MAX_RESULT_BYTES / 4 - 1)}`, null, "c1"),
    ])
    const exported = await exportOf(id)
    expect(exported.isWellFormed()).toBe(true)
    expect((await importAndExport(exported, id)).text === exported).toBe(true)
  })

  test("[RE43] the largest result is imported again, even if JSON escapes each character", async () => {
    const id = await freshSession()
    await writeLong(id, [
      callOf("read", "c1"),
      startOf("c1", 1),
      resultOf("\u0001".repeat(MAX_RESULT_BYTES), null, "c1"),
    ])
    const text = await exportOf(id)
    expect(text.length).toBeGreaterThan(6 * MAX_RESULT_BYTES)
    expect((await importAndExport(text, id)).text === text).toBe(true)
  })
})

describe("calls that are still waiting", () => {
  test("[RE44] are interrupted at the end of the import; a callback in the file still completes its call", async () => {
    const id = await freshSession()
    const base = { responseId: "a", turnId: "u", timestamp: "2026-01-01T00:00:00.000Z" }
    const createCall = (callId: string): object => ({ type: "tool_call", ...base, callId, toolName: "agents_message" })
    const createQueued = (callId: string): object => {
      const result = { mode: "async", status: "queued", responseId: `far-${callId}` }
      return { type: "tool_result", ...base, callId, toolName: "agents_message", ok: true, result, waiting: true }
    }
    const file = toJsonl(
      { type: "user_message", ...base, responseId: "u", text: "ask both" },
      createCall("c1"),
      createCall("c2"),
      createQueued("c1"),
      createQueued("c2"),
      { type: "assistant_message", ...base, text: "Asked.", status: "completed" },
      { type: "agent_callback", timestamp: base.timestamp, text: "the answer", from: "far", responseId: "far-c1" },
    )
    expect(await importFile(id, file)).toMatchObject({ ok: true, value: { state: "done" } })
    expect(toolsIn((await pageOf(id)).messages[1])).toMatchObject([
      { call_id: "c1", status: "ok", result: "the answer" },
      { call_id: "c2", status: "interrupted", error: { code: "tool_interrupted" } },
    ])
    const text = await exportOf(id)
    expect((await importAndExport(text, id)).text).toBe(text)
  })
})
