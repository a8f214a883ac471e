/**
 * record.test.ts: tests that messages are exported as records and imported unchanged, and that records of other
 * producers become messages.
 */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { type AssembledMessage, createAssembler, type LateEvents } from "../../shared/ingest/assembler.ts"
import type { TurnEvent } from "../../shared/protocol/event.ts"
import { apply } from "../../shared/protocol/apply-ops.ts"
import type { Segment } from "../../shared/protocol/segment.ts"
import { toCanonicalJson } from "../../shared/json.ts"
import { createIntake } from "../../shared/ingest/intake.ts"
import { fold, type Message, createMessage } from "../../shared/protocol/message.ts"
import { parseRecord } from "../../shared/protocol/record.ts"
import { messageToRecords } from "../../shared/segment/message-to-records.ts"
import { createMessageSegmenter, messageToWire, segmentsOf } from "../../shared/segment/segmenter.ts"
import { readGoldens } from "../support/golden-files.ts"
import { assertProperty } from "../support/seeded.ts"
import { cutDeltas, eventArb } from "../support/stream-events.ts"

const TIME = "2026-01-01T00:00:00.000Z"

function createAnswer(events: readonly TurnEvent[]): Message {
  const empty = createMessage({ id: "a1", role: "assistant", exchange_id: "q1", timestamp: TIME })
  const intake = createIntake()
  return events.flatMap((event) => intake.cleanEvent(event)).reduce(fold, empty)
}

function importRecords(records: readonly object[]): Message[] {
  return assembleMessages(records).map(({ message }) => message)
}

function assembleMessages(records: readonly object[]): AssembledMessage[] {
  return assembleAll(records).flatMap((item) => (item.kind === "message" ? [item] : []))
}

function assembleAll(records: readonly object[]): (AssembledMessage | LateEvents)[] {
  const assembler = createAssembler()
  const lines = records.map((record) => JSON.stringify(record))
  const taken = lines.flatMap((line, n) => {
    const record = parseRecord(JSON.parse(line))
    if (!record.ok) throw new Error(`${line}: ${JSON.stringify(record.fault)}`)
    return assembler.addRecord(record.value, n)
  })
  return [...taken, ...assembler.end()]
}

/** Prints what the page shows. Results are compared as they are shown, because trailers are not exported. */
function printMessage(message: Message): string {
  return toCanonicalJson(messageToWire(message))
}

const END: TurnEvent = { type: "end", status: "completed", reason: null, metrics: null }

describe("a message after export and import", () => {
  test.each(readGoldens().map((golden) => [golden.name, golden] as const))("[RE1] %s", (_name, golden) => {
    const hasEnd = golden.events.some((event) => event.type === "end")
    const message = createAnswer(hasEnd ? golden.events : [...golden.events, END])
    if (
      message.status === "completed" &&
      message.parts.some(
        (part) => part.type === "tool_call" && part.call.status === "waiting" && part.call.result === null,
      )
    )
      return
    const records = messageToRecords({ pos: 2, parent: 1, tip: null, message }, "s1")
    const [back] = importRecords(records)
    expect(back === undefined ? null : printMessage(back)).toBe(printMessage(message))
    const again = back === undefined ? [] : messageToRecords({ pos: 2, parent: 1, tip: null, message: back }, "s1")
    expect(JSON.stringify(again)).toBe(JSON.stringify(records))
  })
})

/** Generates the position and version of a message. */
const placeArb = fc.record({
  pos: fc.integer({ min: 2, max: 99 }),
  parent: fc.constantFrom(null, 1),
  tip: fc.constantFrom(null, 120),
  version: fc.integer({ min: 1, max: 3 }),
})

describe("any stream", () => {
  test("[RE2] looks the same live (wherever it is cut), stored, and after an export and import", () => {
    const eventLists = fc.array(eventArb, { maxLength: 24 })
    assertProperty(
      fc.property(eventLists, placeArb, fc.nat(40), ([...events], { version, ...place }, cut) => {
        const all: TurnEvent[] = [...events, { ...END, status: "interrupted" }]
        const transcriber = createMessageSegmenter()
        const intake = createIntake()
        let message = createMessage({ id: "a1", role: "assistant", exchange_id: "q1", timestamp: TIME, version })
        let live: Segment[] = []
        for (const event of cutDeltas(all, cut)) {
          for (const clean of intake.cleanEvent(event)) message = fold(message, clean)
          live = apply(live, transcriber.advance(message))
          if (live.length % 4 === 1) expect(toCanonicalJson(live)).toBe(toCanonicalJson(segmentsOf(message)))
        }
        expect(printMessage(message)).toBe(printMessage({ ...createAnswer(all), version }))
        expect(toCanonicalJson(live)).toBe(toCanonicalJson(segmentsOf(message)))
        const records = messageToRecords({ ...place, message }, "s1")
        const [back] = assembleMessages(records)
        expect(back).toMatchObject({ ...place, message: { version } })
        expect(back && printMessage(back.message)).toBe(printMessage(message))
        expect(JSON.stringify(back && messageToRecords({ ...place, message: back.message }, "s1"))).toBe(
          JSON.stringify(records),
        )
      }),
    )
  })

  test("[RE2] an event that arrives after the export has the same effect on the copy and the original", () => {
    const late = fc.array(fc.constantFrom("c0", "c1", "c2"), { maxLength: 4 })
    assertProperty(
      fc.property(fc.array(eventArb, { maxLength: 16 }), late, (events, calls) => {
        const message = createAnswer([...events, END])
        const results = calls.map((callId, n) => ({
          type: "tool_result",
          responseId: "a1",
          callId,
          ok: true,
          result: `${n}`,
        }))
        const question = { type: "user_message", turnId: "q2", responseId: "q2", text: "next" }
        const file = [...messageToRecords({ pos: 2, parent: 1, tip: null, message }, "s1"), question, ...results]
        const taken = assembleAll(file)
        const lateEvents = taken.flatMap((item) => (item.kind === "late" ? item.events : []))
        const [back] = taken.flatMap((item) =>
          item.kind === "message" && item.message.id === "a1" ? [item.message] : [],
        )
        const restored = lateEvents.reduce(fold, back ?? message)
        const here = calls.reduce<Message>((at, call_id, n) => {
          return fold(at, { type: "tool_result", call_id, status: "ok", result: `${n}`, card: null, error: null })
        }, message)
        expect(printMessage(restored)).toBe(printMessage(here))
      }),
      2_000,
    )
  })
})

describe("arguments", () => {
  const argsOf = (...records: readonly object[]): (string | undefined)[] => {
    const turn = [{ type: "user_message", text: "Go." }, ...records, { type: "tool_result", callId: "c", ok: true }]
    return importRecords(turn).flatMap(({ parts }) =>
      parts.map((part) => (part.type === "tool_call" ? part.call.args : undefined)),
    )
  }
  const call = { type: "tool_call", callId: "c", toolName: "Bash" }
  const start = { ...call, type: "tool_call_start" }
  const full = '{"command":"ls"}'

  test("[IR2] are read from both fields, as text or as a value; an empty value never replaces a fuller one", () => {
    for (const written of [full, JSON.parse(full)]) {
      for (const field of ["arguments", "argsJson"]) {
        const written1 = { ...call, [field]: written }
        expect(argsOf(written1)).toEqual([full])
        for (const empty of ["", "{}", " {} ", "null", "[]", {}, null]) {
          for (const other of ["arguments", "argsJson"]) {
            const written2 = { ...start, [other]: empty }
            expect(argsOf(written1, written2)).toEqual([full])
            expect(argsOf(written2, written1)).toEqual([full])
            expect(argsOf({ ...call, ...written1, ...(other === field ? {} : { [other]: empty }) })).toEqual([full])
          }
        }
      }
    }
    expect(argsOf(call)).toEqual(["{}"])
    expect(argsOf({ ...start, arguments: '{"comm' }, { ...call, argsJson: full })).toEqual([full])
    expect(argsOf({ ...call, arguments: '{"a":1}' }, { ...start, arguments: '{"a":2}' })).toEqual(['{"a":1}'])
  })

  test("[IR2] a call after its result, and an empty first result, are completed", () => {
    const records = [
      { type: "user_message", text: "Go." },
      { type: "tool_result", callId: "c", ok: true, result: null },
      { ...call, argsJson: full },
      { type: "tool_result", callId: "c", ok: true, result: "a.txt" },
      { type: "tool_result", callId: "c", ok: true, result: "other" },
    ]
    const [, answer] = importRecords(records)
    expect(answer?.parts).toMatchObject([{ call: { name: "Bash", args: full, status: "ok", result: "a.txt" } }])
  })
})

test("[IR5] the end record of an interrupted answer contains its thinking", () => {
  const end = { type: "assistant_message", responseId: "r1", text: "So", thinkingText: "Hm.", interrupted: true }
  const [, answer] = importRecords([{ type: "user_message", text: "Go." }, end])
  expect(answer).toMatchObject({ status: "interrupted", reason: null })
  expect(answer && segmentsOf(answer)).toEqual([
    { type: "thinking", content: "Hm." },
    { type: "text", content: "So" },
  ])
  const [, cancelled] = importRecords([{ type: "user_message", text: "Go." }, end, { type: "output_cancelled" }])
  expect(cancelled?.status).toBe("cancelled")
})
