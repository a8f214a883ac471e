/** usage.test.ts: tests token counts of model calls, dated prices, and costs. */

import { describe, expect, test } from "vitest"
import {
  type CallUsage,
  cleanModelName,
  cleanTokenCounts,
  MAX_CALL_TOKENS,
  MAX_MODEL_NAME_CHARS,
  NO_TOKENS,
  sumTokens,
} from "../../shared/usage/call-usage.ts"
import { BUILT_IN_PRICES } from "../../shared/usage/built-in-prices.ts"
import { computeCost } from "../../shared/usage/cost.ts"
import { type PriceEntry, usdToNano } from "../../shared/usage/price-entry.ts"
import { findPrice } from "../../shared/usage/price-table.ts"

const DAY = "2026-01-31"

function callOf(change: Partial<CallUsage>): CallUsage {
  const call = { provider: "acme", model: "big", firstChunkMs: 12, retries: 0, isReported: true }
  return { ...call, ...NO_TOKENS, ...change }
}

function priceOf(change: Partial<PriceEntry>): PriceEntry {
  return { model: "big", from: "2026-01-01", input: usdToNano(3), output: usdToNano(15), ...change }
}

describe("usage that a provider reports", () => {
  test.each<[string, Parameters<typeof cleanTokenCounts>[0], Partial<CallUsage>]>([
    ["nothing", {}, {}],
    ["no numbers", { input: "7", output: null, cached: {}, reasoning: [3] }, {}],
    ["negative, NaN and infinite counts", { input: -4, output: Number.NaN, reasoning: -Infinity }, {}],
    ["a fraction", { input: 7.9 }, { input: 7 }],
    ["too many tokens", { input: 1e18, output: Infinity }, { input: MAX_CALL_TOKENS, output: MAX_CALL_TOKENS }],
    ["more cached than input", { input: 10, cached: 11, cacheWritten: 5 }, { input: 10, cached: 10 }],
    ["parts that overlap", { input: 10, cached: 6, cacheWritten: 6 }, { input: 10, cached: 6, cacheWritten: 4 }],
    ["more reasoning than output", { output: 5, reasoning: 9 }, { output: 5, reasoning: 5 }],
  ])("[MT2] %s", (_name, reported, counts) => {
    expect(cleanTokenCounts(reported)).toEqual({ ...NO_TOKENS, ...counts })
  })

  test.each([
    ["gpt-5", "gpt-5"],
    [" a\u0000b\r\n\u202Ec\u200B d ", "a b c d"],
    ["\u0007", "unknown"],
    ["", "unknown"],
    ["\uD800x", "x"],
    ["é".repeat(500), "é".repeat(MAX_MODEL_NAME_CHARS)],
    ["😀".repeat(500), "😀".repeat(MAX_MODEL_NAME_CHARS / 2)],
  ])("[MT2] the name %j is cleaned", (name, cleaned) => {
    expect(cleanModelName(name)).toBe(cleaned)
  })

  test("[MT2] a sum stays a safe integer", () => {
    const most = { ...NO_TOKENS, input: Number.MAX_SAFE_INTEGER }
    expect(sumTokens([most, most, { ...NO_TOKENS, output: 3 }])).toEqual({ ...most, output: 3 })
  })
})

describe("cost", () => {
  test("[MT3] each kind of token has its own price; reasoning is part of the output", () => {
    const own = [priceOf({ cached: usdToNano(0.3), cacheWrite: usdToNano(3.75) })]
    const call = callOf({ input: 1_000, cached: 600, cacheWritten: 100, output: 50, reasoning: 40 })
    // 300 × 3,000 + 600 × 300 + 100 × 3,750 + 50 × 15,000 nano-dollars
    expect(computeCost(call, [own, BUILT_IN_PRICES], DAY)).toBe(900_000 + 180_000 + 375_000 + 750_000)
    expect(computeCost(call, [[priceOf({})], BUILT_IN_PRICES], DAY)).toBe(1_000 * 3_000 + 50 * 15_000)
  })

  test("[MT3] [MT21] the price valid on the day is used; before the first price, there is none", () => {
    const own = [priceOf({ from: "2026-02-01", input: 2e9 }), priceOf({ from: "2026-01-15", input: 1e9 })]
    const costOn = (day: string): number | null =>
      computeCost(callOf({ input: 1_000_000 }), [own, BUILT_IN_PRICES], day)
    expect(["2026-01-14", "2026-01-15", "2026-01-31", "2026-02-01", "9999-12-31"].map(costOn)).toEqual([
      null,
      1e9,
      1e9,
      2e9,
      2e9,
    ])
  })

  test("[MT17] the tenant's price comes first, then the provider's, then the price of any provider; dates in names are optional", () => {
    const findCost = (own: PriceEntry[], change: Partial<CallUsage> = {}) =>
      findPrice(callOf(change), [own, BUILT_IN_PRICES], DAY)?.input ?? null
    const any = priceOf({ input: 1 })
    const ofAcme = priceOf({ input: 2, provider: "acme" })
    expect(findCost([any, ofAcme])).toBe(2)
    expect(findCost([ofAcme, any], { provider: "other" })).toBe(1)
    expect(findCost([ofAcme], { provider: "other" })).toBe(null)
    expect(findCost([any], { model: "big-2025-08-07" })).toBe(1)
    expect(findCost([any, priceOf({ model: "big-20250807", input: 3 })], { model: "big-20250807" })).toBe(3)
    expect(findCost([any], { model: "big-mini" })).toBe(null)
    const gpt = { provider: "openai", model: "gpt-5-2025-08-07" }
    expect(findCost([], gpt)).toBe(1.25e9)
    expect(findCost([priceOf({ model: "gpt-5", input: 7 })], gpt)).toBe(7)
    expect(findCost([], { ...gpt, provider: "proxy.example" })).toBe(null)
  })

  test("[MT3] the built-in prices are dated, plausible and unambiguous; models whose price could not be verified have none", () => {
    const keys = BUILT_IN_PRICES.map(({ provider, model, from }) => `${provider} ${model} ${from}`)
    expect(new Set(keys).size).toBe(keys.length)
    for (const { provider, from, input, cached = input, cacheWrite = input, output } of BUILT_IN_PRICES) {
      expect(new Date(`${from}T00:00:00Z`).toISOString().slice(0, 10)).toBe(from)
      expect([cached, input, cacheWrite, output].every(Number.isSafeInteger)).toBe(true)
      if (provider !== "scripted")
        expect(0 < cached && cached <= input && input <= output && input <= cacheWrite).toBe(true)
    }
    const priceOn = (provider: string, model: string, day: string) =>
      findPrice({ provider, model }, [[], BUILT_IN_PRICES], day)?.input ?? null
    expect(priceOn("openai", "gpt-5.6-sol", "2026-08-20")).toBe(null)
    expect(priceOn("openai", "gpt-5.6-sol", "2026-08-21")).toBe(4e9)
    expect(priceOn("google", "gemini-3.8-flash", "2026-12-31")).toBe(75e7)
    expect(priceOn("google", "gemini-3.8-flash", "2027-01-01")).toBe(1.5e9)
    expect(priceOn("anthropic", "claude-haiku-5-5", "2026-11-22")).toBe(1e8)
    expect(priceOn("mistral", "mistral-large-latest", "2026-11-22")).toBe(null)
    expect(priceOn("deepseek", "deepseek-flash", "2026-11-22")).toBe(null)
    expect(BUILT_IN_PRICES.filter(({ model }) => model.endsWith("-latest"))).toEqual([])
  })

  test("[MT17] [MT21] when a price ends, no earlier price of the model replaces it, but an any-provider or built-in price does", () => {
    const ended = [priceOf({ from: "2025-06-01" }), priceOf({ input: 2, until: "2026-01-15" })]
    const inputOn = (day: string, own: PriceEntry[], change: Partial<CallUsage> = {}) =>
      findPrice(callOf(change), [own, BUILT_IN_PRICES], day)?.input ?? null
    expect(["2025-06-01", "2026-01-01", "2026-01-15", "2026-01-16"].map((day) => inputOn(day, ended))).toEqual([
      3_000_000_000,
      2,
      2,
      null,
    ])
    expect(inputOn(DAY, [...ended, priceOf({ from: "2026-01-20", input: 5 })])).toBe(5)
    expect(inputOn(DAY, [priceOf({ input: 1 }), priceOf({ provider: "acme", until: "2026-01-15" })])).toBe(1)
    const gpt = { provider: "openai", model: "gpt-5" }
    expect(inputOn(DAY, [priceOf({ ...gpt, input: 7, until: "2026-01-30" })], gpt)).toBe(1.25e9)
  })

  test("[MT3] an unknown cost is never 0", () => {
    expect(computeCost(callOf({ input: 5 }), [[], BUILT_IN_PRICES], DAY)).toBe(null)
    expect(computeCost(callOf({ isReported: false }), [[priceOf({})], BUILT_IN_PRICES], DAY)).toBe(null)
    expect(computeCost(callOf({ isReported: false, firstChunkMs: null }), [[], BUILT_IN_PRICES], DAY)).toBe(0)
    expect(computeCost(callOf({ provider: "scripted", model: "scripted", input: 5 }), [[], BUILT_IN_PRICES], DAY)).toBe(
      0,
    )
  })

  test("[MT3] the largest counts and prices have exact costs, or cost the largest safe integer", () => {
    const most = callOf({ input: MAX_CALL_TOKENS, output: MAX_CALL_TOKENS })
    expect(computeCost(most, [[priceOf({ input: 1, output: 0 })], BUILT_IN_PRICES], DAY)).toBe(1_000)
    expect(computeCost(most, [[priceOf({ input: 1e15, output: 1e15 })], BUILT_IN_PRICES], DAY)).toBe(
      Number.MAX_SAFE_INTEGER,
    )
    expect(computeCost(callOf({ input: 1 }), [[priceOf({ input: 499_999 })], BUILT_IN_PRICES], DAY)).toBe(0)
    expect(computeCost(callOf({ input: 1 }), [[priceOf({ input: 500_000 })], BUILT_IN_PRICES], DAY)).toBe(1)
  })
})
