/** record.test.ts: messages go out as records and come back the same; records of other producers come to messages. */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { type Assembled, createAssembler } from "../../shared/assemble.ts"
import type { TurnEvent } from "../../shared/event.ts"
import { canonicalJson } from "../../shared/frame.ts"
import { createIntake } from "../../shared/intake.ts"
import { fold, type Message, openMessage } from "../../shared/message.ts"
import { parseRecord, recordsOf, type StreamRecord } from "../../shared/record.ts"
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
  const taken = lines.flatMap((line) => {
    const record = parseRecord(line)
    if (!record.ok) throw new Error(`${line}: ${JSON.stringify(record.fault)}`)
    return assembler.take(record.value)
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
      message.parts.some((part) => part.type === "tool_call" && part.call.status === "waiting")
    )
      return
    const records = recordsOf({ pos: 2, parent: 1, message }, "s1")
    const [back] = readBack(records)
    expect(back === undefined ? null : shown(back)).toBe(shown(message))
    const again = back === undefined ? [] : recordsOf({ pos: 2, parent: 1, message: back }, "s1")
    expect(JSON.stringify(again)).toBe(JSON.stringify(records))
  })
})
