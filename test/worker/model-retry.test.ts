/**
 * model-retry.test.ts: tests how calls to a temporarily unavailable model are retried before the first byte, including
 * over real HTTP.
 */

import { env } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { MAX_RETRY_AFTER_MS } from "../../shared/limits.ts"
import type { Model, ModelEvent } from "../../worker/model/model-adapter.ts"
import { parseRetryAfterMs } from "../../worker/model/stream-faults.ts"
import { createModel } from "../../worker/model/model-registry.ts"
import { withRetries } from "../../worker/model/model-retry.ts"
import { readUpstream, upstreamUrl } from "../support/upstream-client.ts"

const OPTIONS = { retryMs: 4, maxRetryAfterMs: 50, random: () => 1, log: () => {} }
const BUSY: ModelEvent = { type: "fault", fault: "model_rate_limited", detail: "429", retry: { afterMs: null } }
const HELLO: ModelEvent = { type: "text_delta", delta: "Hello" }

/** Returns a model whose calls return these lists in order, and a function that returns the number of calls. */
function modelOf(...calls: readonly ModelEvent[][]): { readonly model: Model; readonly callCount: () => number } {
  let callCount = 0
  const model: Model = {
    provider: "test",
    name: "test",
    fileKinds: new Set<never>(),
    async *stream() {
      yield* calls[Math.min(callCount++, calls.length - 1)] ?? []
    },
  }
  return { model, callCount: () => callCount }
}

/** Returns the events, except those that only metering reads. */
async function collectEvents(model: Model, signal = new AbortController().signal): Promise<ModelEvent[]> {
  const events: ModelEvent[] = []
  for await (const event of model.stream({ system: "", messages: [], tools: [], signal }))
    if (event.type !== "retry" && event.type !== "usage") events.push(event)
  return events
}

describe("a busy model", () => {
  test("[MO12] is retried twice, and then its answer or last fault is returned", async () => {
    const good = modelOf([BUSY], [BUSY], [HELLO, { type: "finish" }])
    expect(await collectEvents(withRetries(good.model, OPTIONS))).toEqual([HELLO, { type: "finish" }])
    const bad = modelOf([BUSY])
    expect(await collectEvents(withRetries(bad.model, OPTIONS))).toEqual([BUSY])
    expect(bad.callCount()).toBe(3)
  })

  test("[MO12] is retried even after a usage report, which is not output", async () => {
    const usage: ModelEvent = {
      type: "usage",
      tokens: { input: 5, cached: 0, cacheWritten: 0, output: 0, reasoning: 0 },
    }
    const busy = modelOf([usage, BUSY], [HELLO])
    expect(await collectEvents(withRetries(busy.model, OPTIONS))).toEqual([HELLO])
    expect(busy.callCount()).toBe(2)
  })

  test("[MO12] is not retried once it has sent text, or after a permanent fault", async () => {
    const spoken = modelOf([HELLO, BUSY])
    expect(await collectEvents(withRetries(spoken.model, OPTIONS))).toEqual([HELLO, BUSY])
    const refused = modelOf([{ type: "fault", fault: "model_refused", detail: "400" }])
    await collectEvents(withRetries(refused.model, OPTIONS))
    expect([spoken.callCount(), refused.callCount()]).toEqual([1, 1])
  })

  test("[MO12] is retried after the requested delay, or not at all if the delay is over the limit", async () => {
    const waits: unknown[] = []
    const recordWait = (_event: string, detail: Record<string, unknown>): void => void waits.push(detail["wait_ms"])
    const createBusy = (afterMs: number | null): ModelEvent => ({ ...BUSY, retry: { afterMs } }) as ModelEvent
    await collectEvents(
      withRetries(modelOf([createBusy(7)], [createBusy(null)], [HELLO]).model, { ...OPTIONS, log: recordWait }),
    )
    expect(waits).toEqual([7, 8])
    const long = modelOf([createBusy(51)])
    await collectEvents(withRetries(long.model, OPTIONS))
    expect(long.callCount()).toBe(1)
  })

  test("[MO12] an abort ends the wait", async () => {
    const abort = new AbortController()
    const busy = modelOf([{ ...BUSY, retry: { afterMs: 50 } } as ModelEvent])
    const collected = collectEvents(withRetries(busy.model, OPTIONS), abort.signal)
    abort.abort()
    await expect(collected).rejects.toThrow()
    expect(busy.callCount()).toBe(1)
  })

  test("[MO12] can send Retry-After in seconds or as a date", () => {
    const now = Date.parse("2026-01-01T00:00:00Z")
    expect(parseRetryAfterMs("7", now)).toBe(7_000)
    expect(parseRetryAfterMs("Thu, 01 Jan 2026 00:00:30 GMT", now)).toBe(30_000)
    expect(parseRetryAfterMs("Wed, 31 Dec 2025 00:00:00 GMT", now)).toBe(0)
    expect(parseRetryAfterMs("soon", now)).toBeNull()
    expect(parseRetryAfterMs(undefined, now)).toBeNull()
  })
})

describe("over HTTP", () => {
  async function callModel(scenario: string, TIME_SCALE = "0.05"): Promise<{ events: ModelEvent[]; requests: number }> {
    const run = `retry-${scenario}-${TIME_SCALE.replace(".", "")}`
    const MODEL_BASE_URL = `${upstreamUrl(env)}/model/${scenario}/${run}`
    const model = createModel({ MODEL: "openai", MODEL_BASE_URL, MODEL_NAME: "fake", TIME_SCALE })
    if (!model.ok) throw new Error(model.fault)
    const events = await collectEvents(model.value)
    return { events, requests: (await readUpstream(env, run)).length }
  }

  test.each(["500", "503-text"])("[MO12] %s is tried three times", async (scenario) => {
    const { events, requests } = await callModel(scenario)
    expect(events).toMatchObject([{ type: "fault", fault: "model_unreachable" }])
    expect(requests).toBe(3)
  })

  test("[MO12] a temporary 429 isn't visible to the user", async () => {
    const { events, requests } = await callModel("busy-twice")
    expect(events.map((event) => event.type)).toEqual(["text_delta", "finish"])
    expect(requests).toBe(3)
  })

  test.each(["401", "cut-off", "malformed", "error-in-stream"])("[MO12] %s is tried once", async (scenario) => {
    expect((await callModel(scenario)).requests).toBe(1)
  })

  test("[MO12] a Retry-After beyond the limit ends the call at once", async () => {
    expect(7_000).toBeGreaterThan(MAX_RETRY_AFTER_MS * 0.05)
    expect((await callModel("429")).requests).toBe(1)
  })
})
