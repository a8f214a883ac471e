/** golden.test.ts: runs checks GO1 to GO4 on every golden file. test/worker/golden.test.ts runs GO5 (eviction). */

import { describe, expect, test } from "vitest"
import type { TurnEvent } from "../../shared/protocol/event.ts"
import { applyToMessage } from "../../shared/protocol/apply-ops.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { toCanonicalJson } from "../../shared/json.ts"
import type { Resolver } from "../../shared/segment/grant.ts"
import { createIntake } from "../../shared/ingest/intake.ts"
import { fold, type Message, createMessage } from "../../shared/protocol/message.ts"
import { createMessageSegmenter, messageToWire, diffMessageState, segmentsOf } from "../../shared/segment/segmenter.ts"
import { printReply, printSegments, printStatus } from "../support/golden.ts"
import { readGoldens } from "../support/golden-files.ts"
import { addGrants } from "../support/golden-messages.ts"

const goldens = readGoldens()

function emptyMessage(): Message {
  return createMessage({ id: "m1", role: "assistant", exchange_id: "u1", timestamp: "2026-01-01T00:00:00.000Z" })
}

function foldAll(events: readonly TurnEvent[], resolver: Resolver): Message {
  const intake = createIntake()
  const message = events.flatMap((event) => intake.cleanEvent(event)).reduce(fold, emptyMessage())
  return addGrants(message, resolver)
}

function printMessage(message: Message): string[] {
  const transcriber = createMessageSegmenter()
  transcriber.advance(message)
  const reply = printReply(messageToWire(message).reply_to)
  return [...printSegments(segmentsOf(message), transcriber.drift), ...reply, ...printStatus(message)]
}

/** Returns all variants of the events in which one piece of text is split in two, at every index. */
function* cutEvents(events: readonly TurnEvent[]): Generator<TurnEvent[]> {
  for (const [at, event] of events.entries()) {
    if (event.type !== "text_delta" && event.type !== "thinking_delta") continue
    for (let i = 1; i < event.delta.length; i++) {
      const halves = [event.delta.slice(0, i), event.delta.slice(i)].map((delta) => ({ ...event, delta }))
      yield [...events.slice(0, at), ...halves, ...events.slice(at + 1)]
    }
  }
}

/** Returns the events with all text split into single code units. */
function splitAllTexts(events: readonly TurnEvent[]): TurnEvent[] {
  return events.flatMap((event): TurnEvent[] =>
    event.type === "text_delta" || event.type === "thinking_delta"
      ? event.delta.split("").map((delta) => ({ ...event, delta }))
      : [event],
  )
}

/** The number of golden files. Increase it with each new file, so that the test notices a lost file. */
const GOLDEN_FILES = 140

test("[GO1] no golden transcript is missing", () => {
  expect(goldens).toHaveLength(GOLDEN_FILES)
})

describe.each(goldens.map((golden) => [golden.name, golden] as const))("%s", (_name, golden) => {
  test(`[GO1] as written: ${golden.title}`, () => {
    expect(printMessage(foldAll(golden.events, golden.resolver))).toEqual(golden.expected)
  })

  test("[GO2] the transcript is the same wherever its text is cut", () => {
    for (const cut of cutEvents(golden.events))
      expect(printMessage(foldAll(cut, golden.resolver))).toEqual(golden.expected)
    expect(printMessage(foldAll(splitAllTexts(golden.events), golden.resolver))).toEqual(golden.expected)
  })

  test("[GO3] after every prefix, the ops so far produce the segments so far", () => {
    const intake = createIntake()
    const transcriber = createMessageSegmenter()
    let message = emptyMessage()
    let live: WireMessage = messageToWire(message)
    for (const event of splitAllTexts(golden.events)) {
      message = intake.cleanEvent(event).reduce(fold, message)
      live = applyToMessage(live, transcriber.advance(message, undefined, golden.resolver))
      message = transcriber.applyGrants(message)
      expect(toCanonicalJson(live.segments)).toBe(toCanonicalJson(segmentsOf(message)))
      expect(live.reply_to).toBe(messageToWire(message).reply_to)
    }
  })

  test("[GO4] the joined live frames equal the body of history, byte for byte", () => {
    const intake = createIntake()
    const transcriber = createMessageSegmenter()
    let message = emptyMessage()
    let live: WireMessage = messageToWire(message)
    for (const event of golden.events) {
      const next = intake.cleanEvent(event).reduce(fold, message)
      const ops = transcriber.advance(next, undefined, golden.resolver)
      live = applyToMessage(live, JSON.parse(JSON.stringify([...ops, ...diffMessageState(message, next)])))
      message = transcriber.applyGrants(next)
    }
    const stored: Message = JSON.parse(JSON.stringify(message))
    // Ops do not update `content`.
    const { content: _live, ...joined } = live
    const { content: _history, ...body } = JSON.parse(JSON.stringify(messageToWire(stored)))
    expect(toCanonicalJson(joined)).toBe(toCanonicalJson(body))
  })
})
