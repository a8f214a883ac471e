/** scripted-commands.test.ts: tests the scripted model's commands, including /bench. */

import { afterEach, describe, expect, test, vi } from "vitest"
import type { TurnFault } from "../../shared/fault.ts"
import type { ModelEvent, ModelMessage } from "../../worker/model/model-adapter.ts"
import { createScriptedModel } from "../../worker/model/scripted/scripted-model.ts"
import { generalTools, toolContext } from "./tools.ts"

const NOON = Date.UTC(2026, 4, 2, 13)

afterEach(() => void vi.restoreAllMocks())

/** Replaces the platform's timers. For each timer, `onTimer` decides whether and when the callback runs. */
function mockTimers(onTimer: (callback: () => void, ms: number) => void): void {
  const setTimer = (callback: () => void, ms = 0): number => {
    onTimer(callback, ms)
    return 0
  }
  vi.spyOn(globalThis, "setTimeout").mockImplementation(setTimer as unknown as typeof setTimeout)
}

async function collectEvents(
  messages: readonly ModelMessage[],
  env = { SCRIPTED_DELAY_MS: "0" },
): Promise<ModelEvent[]> {
  const { signal } = new AbortController()
  const events: ModelEvent[] = []
  for await (const event of createScriptedModel(env).stream({ system: "", messages, tools: [], signal }))
    events.push(event)
  return events
}

function textIn(events: readonly ModelEvent[], type: "text_delta" | "thinking_delta" = "text_delta"): string {
  return events.map((event) => (event.type === type ? event.delta : "")).join("")
}

function callsIn(events: readonly ModelEvent[]): string[] {
  return events.flatMap((event) => (event.type === "tool_call" ? [`${event.name} ${event.args}`] : []))
}

interface Step {
  readonly events: readonly ModelEvent[]
}

/**
 * Runs a whole turn as a session does. Unless `isBare` is true, each call is dispatched with a tag that contains its
 * ordinal.
 */
async function playTurn(messages: ModelMessage[], question: string, isBare = false): Promise<Step[]> {
  messages.push({ role: "user", content: question })
  const steps: Step[] = []
  let ordinal = 0
  for (;;) {
    const events = await collectEvents(messages)
    steps.push({ events })
    const calls = events.flatMap((event) => (event.type === "tool_call" ? [event] : []))
    const ids = calls.map((_, i) => `call_${steps.length}_${i}`)
    const text = textIn(events)
    messages.push({
      role: "assistant",
      parts: [
        ...(text === "" ? [] : [{ type: "text" as const, text }]),
        ...calls.map(({ name, args }, i) => ({ type: "tool_call" as const, call_id: ids[i] ?? "", name, args })),
      ],
    })
    if (calls.length === 0) return steps
    for (const [i, { name, args }] of calls.entries()) {
      ordinal += 1
      const result = await resultOf(name, args, isBare ? null : `weather_${ordinal}`)
      messages.push({ role: "tool", call_id: ids[i] ?? "", name, result, ok: true })
    }
  }
}

async function resultOf(name: string, args: string, card: string | null): Promise<string> {
  const tool = generalTools().find((tool) => tool.name === name)
  if (tool === undefined) return JSON.stringify({ error: "This tool doesn't exist." })
  const result = await tool.execute(JSON.parse(args), toolContext({ card, now: () => NOON }))
  return typeof result === "string" ? result : JSON.stringify(result)
}

describe("commands", () => {
  test.each([
    ["/say <script>alert(1)</script>", "<script>alert(1)</script>"],
    ["/say   two  spaces ", "  two  spaces "],
    ['/say "line\\nbreak \\"quoted\\" \\ud83c"', 'line\nbreak "quoted" \ud83c'],
    ['/say "not closed', '"not closed'],
    ["/say ", ""],
    [`/say ${"long ".repeat(20_000)}`, "long ".repeat(20_000)],
  ])("[MO4] %.40j is repeated exactly", async (order, answerText) => {
    const events = await collectEvents([{ role: "user", content: order }])
    expect(textIn(events)).toBe(answerText)
    expect(textIn(events, "thinking_delta")).toBe("")
  })

  test("[MO4] /think thinks, /call calls and reports, /fault fails", async () => {
    const thought = await collectEvents([{ role: "user", content: "/think <b>hm</b>" }])
    expect(textIn(thought, "thinking_delta")).toBe("<b>hm</b>")
    const [called, answered] = await playTurn([], "/call teleport {nonsense")
    expect(callsIn(called?.events ?? [])).toEqual(["teleport {nonsense"])
    expect(textIn(answered?.events ?? [])).toContain("`teleport` failed: this tool doesn't exist.")
    const fault: TurnFault = "model_timeout"
    expect((await collectEvents([{ role: "user", content: `/fault ${fault}` }])).at(-1)).toMatchObject({
      type: "fault",
      fault,
    })
  })

  test("[MO4] long text at the usual pace takes a bounded time", async () => {
    let waitedMs = 0
    mockTimers((callback, ms) => {
      waitedMs += ms
      queueMicrotask(callback)
    })
    await collectEvents([{ role: "user", content: `/say ${"word ".repeat(12_000)}` }], { SCRIPTED_DELAY_MS: "18" })
    expect(waitedMs).toBeGreaterThan(1_000)
    expect(waitedMs).toBeLessThanOrEqual(4_000)
  })

  test("[MO4] an abort ends it at once", async () => {
    const abort = new AbortController()
    let pauses = 0
    mockTimers((callback) => {
      pauses += 1
      // The third pause never ends on its own.
      queueMicrotask(pauses < 3 ? callback : () => abort.abort(new Error("cancelled")))
    })
    const messages: ModelMessage[] = [{ role: "user", content: "help" }]
    const stream = createScriptedModel({ SCRIPTED_DELAY_MS: "20" }).stream({
      system: "",
      messages,
      tools: [],
      signal: abort.signal,
    })
    const events: ModelEvent[] = []
    const collectEvents = async (): Promise<void> => {
      for await (const event of stream) events.push(event)
    }
    await expect(collectEvents()).rejects.toThrow("cancelled")
    expect(events).toHaveLength(3)
  })
})

describe("/bench", () => {
  test.each([
    [2000, 6, 2],
    [7, 1, 3],
    [1, 5, 0],
    [0, 6, 1],
    [100, 300, 5],
  ])("[MO4] deltas=%i chars=%i tools=%i is played exactly, split evenly over steps", async (deltas, chars, tools) => {
    const steps = await playTurn([], `/bench deltas=${deltas} chars=${chars} tools=${tools} delay_ms=0 yield_every=50`)
    const texts = steps.map(({ events }) => events.filter((event) => event.type === "text_delta"))
    expect(steps).toHaveLength(tools + 1)
    expect(texts.flat()).toHaveLength(deltas)
    for (const { delta } of texts.flat()) expect(delta).toHaveLength(chars)
    const counts = texts.map((some) => some.length)
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
    expect(steps.flatMap(({ events }) => callsIn(events))).toHaveLength(tools)
  })

  test("[MO4] applies delay_ms to the whole answer, so that late timers don't add up", async () => {
    const start = Date.now()
    let now = start
    vi.spyOn(Date, "now").mockImplementation(() => now)
    // Let each timer fire 7 ms late.
    mockTimers((callback, ms) => {
      now += ms + 7
      queueMicrotask(callback)
    })
    await collectEvents([{ role: "user", content: "/bench deltas=100 delay_ms=10" }])
    expect(now - start).toBe(1_007)
  })

  test("[MO4] is stateless: only the last question determines the answer", async () => {
    const messages: ModelMessage[] = []
    await playTurn(messages, "/bench deltas=4 tools=1")
    const [only] = await playTurn(messages, "hello")
    expect(textIn(only?.events ?? [])).toMatch(/^Hello/)
    const again = await playTurn(messages, "/bench deltas=4 tools=1")
    expect(again).toHaveLength(2)
  })

  test("[MO4] yields to the event loop every few deltas, and stops there on an abort", async () => {
    const abort = new AbortController()
    const question: ModelMessage = { role: "user", content: "/bench deltas=100000 yield_every=10" }
    setTimeout(() => abort.abort(new Error("cancelled")), 20)
    const stream = createScriptedModel().stream({ system: "", messages: [question], tools: [], signal: abort.signal })
    let received = 0
    const collectEvents = async (): Promise<void> => {
      for await (const _ of stream) received += 1
    }
    await expect(collectEvents()).rejects.toThrow("cancelled")
    expect(received % 10).toBe(0)
    expect(received).toBeLessThan(100_000)
  })
})
