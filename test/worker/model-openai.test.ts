/**
 * model-openai.test.ts: tests the OpenAI-compatible adapter with a real loopback server (test/support/upstreams.ts).
 */

import { env } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import type { MeterEvent } from "../../worker/usage/call-meter.ts"
import type { ModelEvent, ModelMessage, ModelRequest } from "../../worker/model/model-adapter.ts"
import { ALL_FILE_KINDS } from "../../worker/model/model-files.ts"
import { createOpenAiModel } from "../../worker/model/providers/openai-compatible.ts"
import { createSystemPrompt } from "../../worker/model/system-prompt.ts"
import { createCardTrailer } from "../../worker/tool/tool.ts"
import { generalTools, PROMPT } from "./tools.ts"
import { readUpstream, upstreamUrl } from "../support/upstream-client.ts"
import type { Seen } from "../support/upstreams.ts"

const QUESTION: ModelMessage = { role: "user", content: "What's the weather in London and in Tokyo?" }

let runs = 0

/** Time limits that are short enough for a test, but long enough for a loopback connection under load. */
const TIMES = { firstByteMs: 1_500, idleMs: 1_500 }
/** Time limits that are longer than a test can take, so that only an abort ends a call. */
const PATIENT = { firstByteMs: 600_000, idleMs: 600_000 }

/**
 * Prepares a call to one of the upstream's scenarios. Returns a function that runs the call, a list of the events, and
 * a function that reads the requests that the upstream received.
 */
async function prepareCall(scenario: string, change: Partial<ModelRequest> = {}, times = TIMES) {
  runs += 1
  const run = `m${runs}`
  const model = createOpenAiModel({
    baseUrl: `${upstreamUrl(env)}/model/${scenario}/${run}`,
    modelName: "fake",
    fileKinds: ALL_FILE_KINDS,
    apiKey: "secret-key",
    ...times,
  })
  const events: ModelEvent[] = []
  const readSeen = (): Promise<Seen[]> => readUpstream(env, run)
  const request = {
    system: createSystemPrompt(PROMPT),
    messages: [QUESTION],
    tools: generalTools(),
    ...change,
  }
  const runCall = async (): Promise<ModelEvent[]> => {
    const signal = change.signal ?? new AbortController().signal
    for await (const event of model.stream({ ...request, signal })) events.push(event)
    return events
  }
  return { events, runCall, seen: readSeen }
}

/**
 * Returns the events of a scenario. Only silent scenarios run with short limits, because any other scenario could
 * exceed them on a busy machine.
 */
async function eventsOf(scenario: string): Promise<ModelEvent[]> {
  const isSilent = scenario.startsWith("silent")
  const times = isSilent ? TIMES : scenario === "stall" ? { ...PATIENT, idleMs: TIMES.idleMs } : PATIENT
  return (await prepareCall(scenario, {}, times)).runCall()
}

/**
 * Returns the events as strings. Adjacent deltas of the same kind are joined, and the finish shows the reported tokens.
 */
function describeEvents(events: readonly ModelEvent[]): string[] {
  const lines: string[] = []
  let kind = ""
  let tokens = "- -"
  for (const event of events) {
    if (event.type === "usage") tokens = `${event.tokens.input} ${event.tokens.output}`
    if (event.type === "usage" || event.type === "started" || event.type === "retry" || event.type === "model") continue
    if (event.type === "state") continue
    const isDelta = event.type === "text_delta" || event.type === "thinking_delta"
    if (isDelta && kind === event.type) lines[lines.length - 1] += event.delta
    else lines.push(lineOf(event, tokens))
    kind = event.type
  }
  return lines
}

function lineOf(event: Exclude<ModelEvent, MeterEvent | { type: "state" }>, tokens: string): string {
  switch (event.type) {
    case "text_delta":
      return `text ${event.delta}`
    case "thinking_delta":
      return `think ${event.delta}`
    case "tool_call":
      return `call ${event.name} ${event.args}`
    case "finish":
      return `finish ${tokens}`
    case "fault":
      return `fault ${event.fault}`
  }
}

describe("what the adapter streams", () => {
  test.each<[string, string[]]>([
    ["ok", ["text Hello, world.", "finish 21 7"]],
    ["no-usage", ["text Hello.", "finish - -"]],
    ["split-utf8", ["text Grüße, 東京 🌦️!", "finish - -"]],
    ["refusal", ["text I cannot help with that.", "finish - -"]],
  ])("[MO5] the response %s is passed on as events", async (scenario, lines) => {
    expect(describeEvents(await eventsOf(scenario))).toEqual(lines)
  })

  test("[MO5] reasoning is passed on as thinking", async () => {
    expect(describeEvents(await eventsOf("reasoning"))).toEqual(["think Let me see.", "text Yes.", "finish - -"])
  })

  test.each([
    ["usage-parts", { input: 2_000, cached: 1_024, cacheWritten: 512, output: 90, reasoning: 64 }],
    ["usage-cut", { input: 50, cached: 0, cacheWritten: 0, output: 2, reasoning: 0 }],
    ["usage-length", { input: 9, cached: 0, cacheWritten: 0, output: 4, reasoning: 0 }],
  ])("[MT1] %s: the last token report comes before the end, even if the call fails", async (scenario, tokens) => {
    const events = await eventsOf(scenario)
    expect(events.findLast(({ type }) => type === "usage")).toEqual({ type: "usage", tokens })
    expect(["finish", "fault"]).toContain(events.at(-1)?.type)
  })

  test("[MT1] the first chunk is a separate event, even if a tool call follows", async () => {
    expect((await eventsOf("bad-args")).map(({ type }) => type)).toEqual(["started", "tool_call", "finish"])
  })

  test("[MO6] parallel calls are passed on whole, in order, before the finish", async () => {
    expect(describeEvents(await eventsOf("parallel"))).toEqual([
      "text I will look.",
      'call weather {"location":"London"}',
      'call weather {"location":"Tokyo"}',
      "finish 21 7",
    ])
  })

  test("[MO6] arguments that aren't JSON are passed on unchanged", async () => {
    expect(describeEvents(await eventsOf("bad-args"))).toEqual(['call weather {"location": Lon', "finish - -"])
  })
})

describe("what the adapter sends", () => {
  test("[MO7] sends the system prompt, the tools, and each result under the id of its call", async () => {
    const createResult = (tag: string): string => `{"location":"London, GB"}\n\n${createCardTrailer(tag)}`
    const messages: ModelMessage[] = [
      QUESTION,
      {
        role: "assistant",
        parts: [
          { type: "text", text: "Let me look." },
          { type: "tool_call", call_id: "call_1_0", name: "weather", args: '{"location":"London"}' },
          { type: "tool_call", call_id: "call_1_1", name: "weather", args: '{"location": Lon' },
        ],
      },
      { role: "tool", call_id: "call_1_0", name: "weather", result: createResult("weather_1"), ok: true },
      { role: "tool", call_id: "call_1_1", name: "weather", result: '{"error":"no"}', ok: false },
    ]
    const { runCall, seen } = await prepareCall("ok", { messages })
    await runCall()
    const [request] = await seen()
    expect(request?.authorization).toBe("Bearer secret-key")
    expect(request?.body).toMatchObject({
      model: "fake",
      stream: true,
      stream_options: { include_usage: true },
      tools: [
        { type: "function", function: { name: "weather", parameters: { required: ["location"] } } },
        { type: "function", function: { name: "rename_conversation", parameters: { required: ["title"] } } },
        { type: "function", function: { name: "chart", parameters: { required: ["title", "data"] } } },
        { type: "function", function: { name: "image_generate", parameters: { required: ["prompt"] } } },
        { type: "function", function: { name: "speak", parameters: { required: ["text"] } } },
        { type: "function", function: { name: "canvas_create", parameters: { required: ["title", "html"] } } },
        { type: "function", function: { name: "search", parameters: { required: ["query"] } } },
        { type: "function", function: { name: "fetch_page", parameters: { required: ["url"] } } },
        { type: "function", function: { name: "calculate", parameters: { required: ["expression"] } } },
        { type: "function", function: { name: "timer", parameters: { required: ["label", "seconds"] } } },
        { type: "function", function: { name: "list", parameters: { required: ["title", "items"] } } },
      ],
      messages: [
        { role: "system", content: createSystemPrompt(PROMPT) },
        { role: "user", content: QUESTION.content },
        {
          role: "assistant",
          content: "Let me look.",
          tool_calls: [
            { id: "call_1_0", function: { name: "weather", arguments: '{"location":"London"}' } },
            { id: "call_1_1", function: { name: "weather", arguments: '{"unreadable":"{\\"location\\": Lon"}' } },
          ],
        },
        { role: "tool", tool_call_id: "call_1_0", content: createResult("weather_1") },
        { role: "tool", tool_call_id: "call_1_1", content: '{"error":"no"}' },
      ],
    })
  })

  test("[MO7] sends two calls and their results over two requests, as in a turn", async () => {
    const first = await (await prepareCall("cards")).runCall()
    const calls = first.flatMap((event) => (event.type === "tool_call" ? [event] : []))
    const messages: ModelMessage[] = [
      QUESTION,
      {
        role: "assistant",
        parts: calls.map(({ name, args }, i) => ({ type: "tool_call", call_id: `call_1_${i}`, name, args })),
      },
      ...calls.map(({ name }, i): ModelMessage => {
        return {
          role: "tool",
          call_id: `call_1_${i}`,
          name,
          result: `{}\n\n${createCardTrailer(`weather_${i + 1}`)}`,
          ok: true,
        }
      }),
    ]
    const second = await (await prepareCall("cards", { messages })).runCall()
    const shown = "Here: <span id='weather_1'>as you see</span> Here: <span id='weather_2'>as you see</span> "
    expect(describeEvents(second)).toEqual([`text ${shown}`, "finish 21 7"])
  })
})

describe("upstream failures", () => {
  test.each<[string, string[]]>([
    ["401", ["fault model_refused"]],
    ["404", ["fault model_refused"]],
    ["429", ["fault model_rate_limited"]],
    ["500", ["fault model_unreachable"]],
    ["503-text", ["fault model_unreachable"]],
    ["redirect", ["fault model_unreachable"]],
    ["malformed", ["fault model_malformed"]],
    ["wrong-shape", ["fault model_malformed"]],
    ["html", ["fault model_malformed"]],
    ["filtered", ["fault model_refused"]],
    ["refused-in-stream", ["fault model_refused"]],
    ["error-in-stream", ["text So", "fault model_rate_limited"]],
    ["cut-off", ["text And then", "fault model_cut_off"]],
    ["cut-off-call", ["fault model_cut_off"]],
    ["reset", ["text And then", "fault model_cut_off"]],
    ["length", ["text And so it", "fault model_cut_off"]],
    ["silent", ["fault model_timeout"]],
    ["silent-stream", ["fault model_timeout"]],
    ["stall", ["text One moment", "fault model_timeout"]],
  ])("[MO8] %s causes one fault, after the text so far", async (scenario, lines) => {
    expect(describeEvents(await eventsOf(scenario))).toEqual(lines)
  })

  test.each<[string, string[]]>([
    ["long-line", ["text So", "fault answer_too_long"]],
    ["long-event", ["text So", "fault answer_too_long"]],
    ["deep-chunk", ["text So", "fault model_malformed"]],
    ["endless-args", ["fault answer_too_long"]],
    ["long-error", ["fault model_unreachable"]],
  ])("[MO13] %s is cut off, and the connection is closed", async (scenario, lines) => {
    const { runCall, seen } = await prepareCall(scenario, {}, PATIENT)
    expect(describeEvents(await runCall())).toEqual(lines)
    await expect.poll(async () => (await seen())[0]?.closed).toBe(true)
  })

  test("[MO8] a host that can't be reached causes model_unreachable", async () => {
    const model = createOpenAiModel({ baseUrl: "http://127.0.0.1:9/v1", modelName: "fake", fileKinds: ALL_FILE_KINDS })
    const events: ModelEvent[] = []
    const { signal } = new AbortController()
    for await (const event of model.stream({ system: "", messages: [QUESTION], tools: [], signal })) events.push(event)
    expect(describeEvents(events)).toEqual(["fault model_unreachable"])
  })

  test("[MO8] the log contains the retry delay, but never the key", async () => {
    const [fault] = await eventsOf("429")
    expect(fault).toMatchObject({ detail: "429 Slow down. (retry after 7)" })
    expect(JSON.stringify([fault, ...(await eventsOf("401"))])).not.toContain("secret-key")
  })

  test("[MO8] a redirect isn't followed", async () => {
    const { runCall } = await prepareCall("redirect")
    await runCall()
    expect(await readUpstream(env, "redirected")).toEqual([])
  })

  test("[MO9] each chunk restarts the silence limit, so a slow answer is read to its end", async () => {
    // The answer takes longer in total than the allowed silence, but its pauses of 75 ms are far shorter, even on a
    // busy machine.
    const { runCall } = await prepareCall("steady", {}, { firstByteMs: 3_000, idleMs: 3_000 })
    expect(describeEvents(await runCall())).toEqual([`text ${"x".repeat(50)}`, "finish - -"])
  })
})

describe("aborts", () => {
  test.each(["silent", "silent-stream", "stall", "slow"])(
    "[MO9] %s: an abort ends it at once and closes the connection",
    async (scenario) => {
      const abort = new AbortController()
      const { runCall, seen, events } = await prepareCall(scenario, { signal: abort.signal }, PATIENT)
      const going = expect(runCall()).rejects.toThrow("cancelled")
      await expect.poll(async () => (await seen()).length, { timeout: 10_000 }).toBe(1)
      abort.abort(new Error("cancelled"))
      await going
      expect(events.every((event) => event.type === "text_delta")).toBe(true)
      await expect.poll(async () => (await seen())[0]?.closed).toBe(true)
    },
  )

  test("[MO9] a consumer that stops reading also closes the connection", async () => {
    runs += 1
    const run = `m${runs}`
    const model = createOpenAiModel({
      baseUrl: `${upstreamUrl(env)}/model/stall/${run}`,
      modelName: "fake",
      fileKinds: ALL_FILE_KINDS,
    })
    const { signal } = new AbortController()
    for await (const event of model.stream({ system: "", messages: [QUESTION], tools: [], signal })) {
      expect(event.type).toBe("text_delta")
      break
    }
    await expect.poll(async () => (await readUpstream(env, run))[0]?.closed).toBe(true)
  })
})
