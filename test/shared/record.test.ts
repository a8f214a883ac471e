/** record.test.ts: messages go out as records and come back the same; records of other producers come to messages. */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { createAssembler } from "../../shared/assemble.ts"
import type { TurnEvent } from "../../shared/event.ts"
import { canonicalJson } from "../../shared/frame.ts"
import { createIntake } from "../../shared/intake.ts"
import { fold, type Message, openMessage } from "../../shared/message.ts"
import { parseRecord, recordsOf } from "../../shared/record.ts"
import { messageToWire } from "../../shared/segment.ts"
import { readGoldens } from "../support/golden-files.ts"
import { hold } from "../support/seeded.ts"

const TIME = "2026-01-01T00:00:00.000Z"

function answerOf(events: readonly TurnEvent[]): Message {
  const empty = openMessage({ id: "a1", role: "assistant", exchange_id: "q1", timestamp: TIME })
  const intake = createIntake()
  return events.flatMap((event) => intake.take(event)).reduce(fold, empty)
}

function readBack(records: readonly object[]): Message[] {
  const assembler = createAssembler()
  const lines = records.map((record) => JSON.stringify(record))
  const taken = lines.flatMap((line, n) => {
    const record = parseRecord(JSON.parse(line))
    if (!record.ok) throw new Error(`${line}: ${JSON.stringify(record.fault)}`)
    return assembler.take(record.value, n)
  })
  return [...taken, ...assembler.end()].flatMap((one) => (one.kind === "message" ? [one.message] : []))
}

/** What a reader sees; trailers stay home, so results are compared as they are shown. */
function shown(message: Message): string {
  return canonicalJson(messageToWire(message))
}

const END: TurnEvent = { type: "end", status: "completed", reason: null, metrics: null }

describe("there and back", () => {
  test.each(readGoldens().map((golden) => [golden.name, golden] as const))("[RE1] %s", (_name, golden) => {
    const hasEnd = golden.events.some((event) => event.type === "end")
    const message = answerOf(hasEnd ? golden.events : [...golden.events, END])
    if (
      message.status === "completed" &&
      message.parts.some(
        (part) => part.type === "tool_call" && part.call.status === "waiting" && part.call.result === null,
      )
    )
      return
    const records = recordsOf({ pos: 2, parent: 1, tip: null, message }, "s1")
    const [back] = readBack(records)
    expect(back === undefined ? null : shown(back)).toBe(shown(message))
    const again = back === undefined ? [] : recordsOf({ pos: 2, parent: 1, tip: null, message: back }, "s1")
    expect(JSON.stringify(again)).toBe(JSON.stringify(records))
  })
})

/** What a producer may say, in any order; calls overlap, results come late or never, the end may come anywhere. */
const eventArb: fc.Arbitrary<TurnEvent> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant("text_delta" as const),
      delta: fc.string({ unit: wordArb(), maxLength: 6 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant("thinking_delta" as const),
      delta: fc.string({ unit: wordArb(), maxLength: 6 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ type: "text_done" } as const) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("thinking_done" as const), ms: fc.nat(9_999) }) },
  { weight: 1, arbitrary: fc.constant({ type: "step_start" } as const) },
  { weight: 2, arbitrary: callArb((call_id) => ({ type: "tool_call", call_id, name: "weather", args: "{}" })) },
  {
    weight: 2,
    arbitrary: callArb((call_id, n) => ({ type: "tool_call_start", call_id, channel: "user", ordinal: n + 1 })),
  },
  {
    weight: 1,
    arbitrary: callArb((call_id, n) => ({
      type: "tool_approval",
      call_id,
      approval: (["asked", "allowed", "denied"] as const)[n] ?? "asked",
    })),
  },
  { weight: 2, arbitrary: callArb((call_id) => ({ type: "tool_output_delta", call_id, delta: "out\n" })) },
  { weight: 2, arbitrary: callArb((call_id, n) => resultEvent(call_id, n)) },
  { weight: 1, arbitrary: endArb() },
)

function wordArb(): fc.Arbitrary<string> {
  return fc.constantFrom(
    "a",
    " ",
    "\n\n",
    "<",
    "<b>",
    "`",
    "<span id='weather_1'>",
    "</span>",
    "é",
    "😀",
    "x".repeat(40),
  )
}

function callArb(make: (call_id: string, n: number) => TurnEvent): fc.Arbitrary<TurnEvent> {
  return fc.tuple(fc.constantFrom("c0", "c1", "c2"), fc.nat(2)).map(([call_id, n]) => make(call_id, n))
}

function resultEvent(call_id: string, n: number): TurnEvent {
  const [status, error] =
    n === 0 ? (["ok", null] as const) : (["failed", { code: "tool_failed", message: "no" }] as const)
  return { type: "tool_result", call_id, status, result: '{"t":9}', card: n === 0 ? "weather_1" : null, error }
}

function endArb(): fc.Arbitrary<TurnEvent> {
  const status = fc.constantFrom("completed" as const, "cancelled" as const, "interrupted" as const, "failed" as const)
  return status.map((one) => ({
    type: "end",
    status: one,
    reason: one === "failed" ? "model_cut_off" : null,
    metrics: null,
  }))
}

describe("any stream", () => {
  test("[RE2] folds to a message that comes back the same, and goes out again byte for byte", () => {
    hold(
      fc.property(fc.array(eventArb, { maxLength: 24 }), (events) => {
        const message = answerOf([...events, { ...END, status: "interrupted" }])
        const records = recordsOf({ pos: 2, parent: 1, tip: null, message }, "s1")
        const [back] = readBack(records)
        if (back === undefined) throw new Error("nothing came back")
        expect(shown(back)).toBe(shown(message))
        expect(JSON.stringify(recordsOf({ pos: 2, parent: 1, tip: null, message: back }, "s1"))).toBe(
          JSON.stringify(records),
        )
      }),
    )
  })
})
