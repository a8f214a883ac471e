/** usage-calls.test.ts: tests the record of a model call, which is built from an adapter's events. */

import { describe, expect, test } from "vitest"
import { NO_TOKENS, type TokenCounts } from "../../shared/usage/call-usage.ts"
import { callsToEntries } from "../../shared/usage/usage-totals.ts"
import type { ModelEvent } from "../../worker/model/model-adapter.ts"
import { createUsageReader, parseUsage } from "../../worker/model/providers/openai-usage.ts"
import { findProviderName } from "../../worker/model/provider-name.ts"
import { TurnUsage } from "../../worker/usage/turn-usage.ts"
import { createUsageRecorder } from "../../worker/usage/usage-recorder.ts"

describe("one call", () => {
  const MODEL = { provider: "acme", name: "big" }
  const tokens: TokenCounts = { ...NO_TOKENS, input: 9, output: 4 }

  /** Plays events at the given times, ends the call after the last one, and returns its record. */
  function meterEvents(events: readonly (readonly [number, ModelEvent])[]) {
    let now = 1_000
    const recorded: unknown[] = []
    const onCall = (call: unknown): void => void recorded.push(call)
    const usage = new TurnUsage(createUsageRecorder({ now: () => now, listPrices: () => [], onCall }), () => now)
    usage.beginCall(MODEL, { countInput: () => 70, countText: (text) => text.length })
    for (const [at, event] of events) {
      now = at
      usage.observe(event)
    }
    usage.endCall()
    usage.endCall()
    expect(recorded).toEqual(usage.calls())
    return usage.calls()[0]
  }

  test("[MT1] records the time to the first chunk, the retries, and the last token report", () => {
    const call = meterEvents([
      [1_010, { type: "retry" }],
      [1_020, { type: "retry" }],
      [1_030, { type: "thinking_delta", delta: "Hm" }],
      [1_040, { type: "usage", tokens: { ...tokens, output: 1 } }],
      [1_050, { type: "text_delta", delta: "Yes" }],
      [1_060, { type: "usage", tokens }],
      [1_070, { type: "finish" }],
    ])
    const about = { provider: "acme", model: "big", firstChunkMs: 30, retries: 2, isReported: true, cost: null }
    expect(call).toEqual({ ...tokens, ...about })
  })

  test("[MT1] a call that is cut off has the usage that was reported before that", () => {
    const events: [number, ModelEvent][] = [
      [1_001, { type: "started" }],
      [1_002, { type: "usage", tokens }],
    ]
    expect(meterEvents(events)).toMatchObject({ ...tokens, firstChunkMs: 1, isReported: true })
    expect(meterEvents([])).toMatchObject({ ...NO_TOKENS, firstChunkMs: null, isReported: false, cost: 0 })
  })

  test("[MT13] a call that is cut off before its tokens are reported is recorded with an estimate, with or without a price", () => {
    const events: [number, ModelEvent][] = [
      [1_001, { type: "text_delta", delta: "12345" }],
      [1_002, { type: "tool_call", name: "x", args: "{}" }],
    ]
    const call = meterEvents(events)
    expect(call).toMatchObject({ ...NO_TOKENS, isReported: false, cost: null, estimated: { input: 70, output: 7 } })
    const entries = callsToEntries(call === undefined ? [] : [call, { ...call, estimatedCost: 40 }], "2026-11-22", "a")
    expect(entries).toMatchObject([{ input: 140, output: 14, calls: 2, unpricedCalls: 2, cost: 40 }])
    expect(meterEvents([...events, [1_003, { type: "usage", tokens }]])).not.toHaveProperty("estimated")
  })

  test("[MT1] a clock that is set back causes no negative times", () => {
    expect(meterEvents([[400, { type: "text_delta", delta: "Yes" }]])).toMatchObject({ firstChunkMs: 0 })
  })
})

describe("the usage of an OpenAI-compatible stream", () => {
  test.each<[string, Record<string, unknown>, Partial<TokenCounts>]>([
    [
      "OpenAI",
      {
        prompt_tokens: 20,
        completion_tokens: 9,
        total_tokens: 29,
        prompt_tokens_details: { cached_tokens: 16 },
        completion_tokens_details: { reasoning_tokens: 5 },
      },
      { input: 20, cached: 16, output: 9, reasoning: 5 },
    ],
    [
      "OpenRouter",
      { prompt_tokens: 20, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 12 } },
      { input: 20, cached: 4, cacheWritten: 12, output: 9 },
    ],
    [
      "DeepSeek",
      { prompt_tokens: 20, prompt_cache_hit_tokens: 8, prompt_cache_miss_tokens: 12, completion_tokens: 9 },
      { input: 20, cached: 8, output: 9 },
    ],
    [
      "LiteLLM",
      { prompt_tokens: 20, completion_tokens: 9, cache_read_input_tokens: 3, cache_creation_input_tokens: 2 },
      { input: 20, cached: 3, cacheWritten: 2, output: 9 },
    ],
    [
      "xAI, which counts reasoning separately",
      {
        prompt_tokens: 20,
        completion_tokens: 2,
        total_tokens: 92,
        completion_tokens_details: { reasoning_tokens: 70 },
      },
      { input: 20, output: 72, reasoning: 70 },
    ],
    [
      "hostile",
      { prompt_tokens: "many", completion_tokens: -2, prompt_tokens_details: [1], completion_tokens_details: null },
      {},
    ],
  ])("[MT1] is read: %s", (_name, usage, counts) => {
    expect(parseUsage(usage)).toEqual({ ...NO_TOKENS, ...counts })
  })

  test("[MT1] chunks without usage and repeated reports add nothing", () => {
    const reader = createUsageReader()
    const chunk = { usage: { prompt_tokens: 3, completion_tokens: 1 } }
    const chunks = [null, 7, {}, { usage: null }, { usage: "x" }, chunk, chunk, { choices: [] }]
    const events = chunks.flatMap((chunk) => [...reader.read(chunk)])
    expect(events).toEqual([{ type: "usage", tokens: { ...NO_TOKENS, input: 3, output: 1 } }])
  })

  test.each([
    ["api.openai.com", "openai"],
    ["api.x.ai", "xai"],
    ["llm.example.com", "llm.example.com"],
    ["notopenai.com", "notopenai.com"],
  ])("[MT1] the provider at %s is %s", (host, provider) => {
    expect(findProviderName(host)).toBe(provider)
  })
})
