/**
 * subagents.test.ts: contains the twelve checks from the original implementation's test suite, under their original
 * names. A subagent must get no cards, change no counter, and return no spans.
 */

import { describe, expect, test } from "vitest"
import type { Channel, TurnEvent } from "../../shared/protocol/event.ts"
import { listCalls, type Message, createMessage } from "../../shared/protocol/message.ts"
import { stripSpans } from "../../shared/segment/span-tag.ts"
import { dispatchCall } from "../../worker/turn/dispatch-tool.ts"
import { assignOrdinals } from "../../worker/turn/next-action.ts"
import { messageToAnswer } from "../../worker/agent/agent-answer.ts"
import { createWeatherTool } from "../../worker/tool/weather/weather-tool.ts"
import { sampleSource } from "../../worker/tool/weather/weather-sample.ts"
import { answerOf, callOf, startOf, TIME, TIMES } from "../support/turn.ts"
import { saveNothing, toolContext } from "./tools.ts"

const weather = { name: "weather", ...createWeatherTool(sampleSource) }

async function dispatchSubagent(channel: Channel, ordinal: number | null) {
  const [call] = listCalls(answerOf(callOf("weather", "c1", '{"location":"Paris"}')))
  if (call === undefined) throw new Error("no call")
  return await dispatchCall({
    call,
    exchange_id: "q",
    nth: 1,
    ordinal,
    channel,
    tool: weather,
    signal: new AbortController().signal,
    now: () => 0,
    toolMs: TIMES.toolMs,
    onOutput: () => {},
    log: () => {},
    saveAsset: saveNothing,
  })
}

function answerWith(text: string): Message {
  const empty = createMessage({ id: "a", role: "assistant", exchange_id: "q", timestamp: TIME })
  const part = { type: "text", step: 1, text, open: false } as const
  return { ...empty, status: "completed", parts: text === "" ? [] : [part] }
}

describe("TestDispatcherChannelGate", () => {
  test("[AG7] 1 user channel injects the ordinal: the result requests a span and cues a card", async () => {
    const result = await dispatchSubagent("user", 1)
    expect(result).toMatchObject({
      status: "ok",
      card: "weather_1",
      result: expect.stringContaining("<span id='weather_1'>"),
    })
  })

  test("[AG7] 2 subagent channel does not, even if it receives one", async () => {
    for (const channel of ["subagent", "agent", "external"] as const) {
      const result = await dispatchSubagent(channel, 1)
      expect(result).toMatchObject({ status: "ok", card: null })
      expect(JSON.stringify(result)).not.toContain("span")
    }
  })

  test("[AG7] 3 mixed channels leave the user's counter unchanged", () => {
    const events: TurnEvent[] = [
      callOf("weather", "c1"),
      startOf("c1", 1),
      callOf("weather", "c2"),
      startOf("c2", null),
      callOf("weather", "c3"),
      startOf("c3", null),
      callOf("weather", "c4"),
    ]
    const message = answerOf(...events)
    expect(assignOrdinals(message, listCalls(message).slice(-1))).toEqual([2])
  })
})

describe("TestWeatherWithoutOrdinalReturnsDict", () => {
  test("[AG7] 4 a direct call without an ordinal returns an object, not a string with a trailer", async () => {
    const result = await weather.execute({ location: "Paris" }, toolContext())
    expect(result).toMatchObject({ location: "Paris, FR" })
  })
})

describe("TestStripSpans", () => {
  test.each([
    ["5 single", "It is <span id='weather_1'>cold</span>.", "It is cold."],
    ["6 multi", "<span id='weather_1'>a</span> and <span id='weather_2'>b</span>", "a and b"],
    ["7 double-quoted", '<span id="weather_1">cold</span>', "cold"],
    ["8 multiline", "<span id='weather_1'>one\ntwo\n\nthree</span>", "one\ntwo\n\nthree"],
    ["9 empty", "", ""],
    ["10 none: an answer without words", "", ""],
    ["11 idempotent", "<span id='weather_1'>a <span id='weather_2'>b</span></span>", null],
    ["12 unrelated spans pass through", "<span class='x'>kept</span> <span id='other'>kept</span>", null],
  ])("[AG7] %s", (name, text, expected) => {
    const once = stripSpans(text)
    expect(stripSpans(once)).toBe(once)
    if (expected !== null) expect(once).toBe(expected)
    if (name.startsWith("12")) expect(once).toBe(text)
    // Answers to other agents must be stripped too.
    const reply = messageToAnswer(answerWith(text))
    expect(reply).toEqual({ ok: true, text: once.trim() })
    expect(JSON.stringify(reply)).not.toMatch(/<span id=['"][a-z]+_\d+['"]>/)
  })
})
