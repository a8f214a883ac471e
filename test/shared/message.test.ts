/** message.test.ts: tests how events are folded into a message, and the content derived from a message. */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { parseEvent, type TurnEvent } from "../../shared/protocol/event.ts"
import { listCalls, deriveContent, fold, createMessage } from "../../shared/protocol/message.ts"

const EMPTY = createMessage({ id: "m", role: "assistant", exchange_id: "u", timestamp: "2026-01-01T00:00:00.000Z" })

function foldEvents(...events: TurnEvent[]) {
  return events.reduce(fold, EMPTY)
}

const CALL: TurnEvent = { type: "tool_call", call_id: "c1", name: "weather", args: "{}" }
const START: TurnEvent = { type: "tool_call_start", call_id: "c1", channel: "user", ordinal: 1 }
const RESULT: TurnEvent = {
  type: "tool_result",
  call_id: "c1",
  status: "ok",
  result: "{}",
  card: "weather_1",
  error: null,
}

describe("fold", () => {
  test("[EV1] a delta continues the open part of its kind, or opens one", () => {
    const message = foldEvents(
      { type: "text_delta", delta: "a" },
      { type: "text_delta", delta: "b" },
      { type: "thinking_delta", delta: "why" },
      { type: "text_delta", delta: "c" },
    )
    expect(message.parts).toEqual([
      { type: "text", step: 0, text: "ab", open: false },
      { type: "thinking", step: 0, text: "why", open: false, ms: null },
      { type: "text", step: 0, text: "c", open: true },
    ])
  })

  test("[EV1] unchanged parts keep their identity", () => {
    const before = foldEvents({ type: "text_delta", delta: "a" }, CALL, START)
    const after = fold(before, { type: "text_delta", delta: "b" })
    expect(after.parts[0]).toBe(before.parts[0])
    expect(after.parts[1]).toBe(before.parts[1])
    expect(before.parts).toHaveLength(2)
  })

  test("[EV1] an event that no longer fits returns the same message", () => {
    const ended = foldEvents({ type: "end", status: "completed", reason: null, metrics: null })
    for (const event of [CALL, { type: "text_delta", delta: "late" }, { type: "step_start" }] as const) {
      expect(fold(ended, event)).toBe(ended)
    }
    const settled = foldEvents(CALL, START, RESULT)
    expect(fold(settled, { type: "tool_output_delta", call_id: "c1", delta: "late" })).toBe(settled)
    expect(fold(settled, { type: "tool_output_delta", call_id: "unknown", delta: "x" })).toBe(settled)
  })

  test("[EV3] only the first result of a call counts", () => {
    const settled = foldEvents(CALL, START, RESULT)
    expect(fold(settled, { ...RESULT, result: "{2}" })).toBe(settled)
  })

  test("[EV3] a result after later text cues no card", () => {
    const [call] = listCalls(foldEvents(CALL, START, { type: "text_delta", delta: "<span id='weather_1'>" }, RESULT))
    expect(call).toMatchObject({ status: "ok", card: null })
  })

  test("[EV3] text without a span after a call doesn't affect the cue", () => {
    const [call] = listCalls(foldEvents(CALL, START, { type: "text_delta", delta: "Just a moment." }, RESULT))
    expect(call).toMatchObject({ status: "ok", card: "weather_1" })
  })

  test.each(["cancelled", "interrupted", "failed"] as const)("[EV4] %s interrupts open calls", (status) => {
    const [call] = listCalls(foldEvents(CALL, START, { type: "end", status, reason: null, metrics: null }))
    expect(call).toMatchObject({ status: "interrupted", error: { code: "tool_interrupted" } })
  })

  test("[EV4] a completed turn may leave an asynchronous call open, and its result still arrives", () => {
    const ended = foldEvents(CALL, START, { type: "end", status: "completed", reason: null, metrics: null })
    expect(listCalls(ended)[0]?.status).toBe("running")
    expect(listCalls(fold(ended, RESULT))[0]?.status).toBe("ok")
  })

  test("[EV5] content is the text parts joined by a blank line; a user's content is verbatim", () => {
    const message = foldEvents({ type: "text_delta", delta: "a" }, CALL, START, RESULT, {
      type: "text_delta",
      delta: "b",
    })
    expect(deriveContent(message)).toBe("a\n\nb")
    expect(deriveContent(createMessage({ ...EMPTY, role: "user", words: " <b>*x*\n" }))).toBe(" <b>*x*\n")
  })
})

describe("parseEvent", () => {
  test("[EV2] accepts every event of the grammar", () => {
    for (const event of [CALL, START, RESULT, { type: "step_start" }, { type: "thinking_done", ms: 3 }]) {
      expect(parseEvent(event)).toMatchObject({ ok: true, value: event })
    }
  })

  test.each([
    [null, "type"],
    [7, "type"],
    [{ type: "text" }, "type"],
    [{ type: "text_delta" }, "delta"],
    [{ type: "text_delta", delta: 3 }, "delta"],
    [{ ...CALL, call_id: "a b" }, "call_id"],
    [{ ...CALL, call_id: "x".repeat(65) }, "call_id"],
    [{ ...START, channel: "root" }, "channel"],
    [{ ...RESULT, error: { code: 1 } }, "error.code"],
  ])("[EV2] refuses %j, naming %s", (value, field) => {
    expect(parseEvent(value)).toEqual({ ok: false, fault: { reason: "field_invalid", field } })
  })

  test("[EV2] never throws, whatever the input", () => {
    fc.assert(fc.property(fc.anything(), (value) => typeof parseEvent(value).ok === "boolean"))
  })
})
