/**
 * built-in-prices.ts: the published list prices of common models, in USD per million tokens.
 *
 * A provider can change its prices at any time, so a tenant can override an entry with `PUT /v1/prices`. Models that
 * are not listed have an unknown price: for example `-latest` names, whose model changes, and models whose price
 * depends on the time of day (DeepSeek). Outdated prices are not kept, because a cost is computed on the day of the
 * call. The prices are from copies of the pages named below, and from projects that quote those pages.
 */

import { type PriceEntry, usdToNano } from "./price-entry.ts"

/**
 * The model, the first day, and the prices of input, of cached input (null: same as input), of output, and of cache
 * writes if their price differs from that of input. The first day is the day of the release or of the price change or,
 * if that is unknown, the day on which the price was read.
 */
type ListedPrice = readonly [string, string, number, number | null, number, number?]

/**
 * From developers.openai.com/api/docs/pricing and the model pages, read in November 2026. Valid up to 272,000 input
 * tokens.
 */
const OPENAI: readonly ListedPrice[] = [
  ["gpt-6.2-sol", "2026-11-17", 2, 0.1, 10, 2.5],
  ["gpt-6.1-terra", "2026-10-26", 1, 0.05, 5, 1.25],
  ["gpt-6.1-sol", "2026-09-29", 2, 0.1, 10, 2.5],
  ["gpt-6-astra", "2026-09-03", 10, 1, 50, 12.5],
  ["gpt-6-sol", "2026-09-22", 2, 0.2, 10, 2.5],
  ["gpt-6-luna", "2026-09-22", 0.1, 0.01, 0.5, 0.125],
  // Published as valid until at least 2026-11-21.
  ["gpt-5.6-sol", "2026-08-21", 4, 0.4, 20, 5],
  ["gpt-5.6-terra", "2026-07-30", 2, 0.2, 12, 2.5],
  ["gpt-5.6-luna", "2026-07-30", 0.2, 0.02, 1.2, 0.25],
  ["gpt-5.5", "2026-05-04", 5, 0.5, 30],
  ["gpt-5.5-pro", "2026-05-04", 30, null, 180],
  ["gpt-5.4", "2026-05-04", 2.5, 0.25, 15],
  ["gpt-5.4-mini", "2026-05-04", 0.75, 0.075, 4.5],
  ["gpt-5.4-nano", "2026-05-04", 0.2, 0.02, 1.25],
  ["gpt-5.3-codex", "2026-06-04", 1.75, 0.175, 14],
  // The prices below were read in autumn 2025.
  ["gpt-5.1", "2025-11-13", 1.25, 0.125, 10],
  ["gpt-5", "2025-08-07", 1.25, 0.125, 10],
  ["gpt-5-codex", "2025-09-23", 1.25, 0.125, 10],
  ["gpt-5-mini", "2025-08-07", 0.25, 0.025, 2],
  ["gpt-5-nano", "2025-08-07", 0.05, 0.005, 0.4],
  ["gpt-5-pro", "2025-10-06", 15, null, 120],
  ["gpt-4.1", "2025-04-14", 2, 0.5, 8],
  ["gpt-4.1-mini", "2025-04-14", 0.4, 0.1, 1.6],
  ["gpt-4.1-nano", "2025-04-14", 0.1, 0.025, 0.4],
  ["gpt-4o", "2024-10-01", 2.5, 1.25, 10],
  ["gpt-4o-mini", "2024-10-01", 0.15, 0.075, 0.6],
  ["o3", "2025-06-10", 2, 0.5, 8],
  ["o3-pro", "2025-06-10", 20, null, 80],
  ["o4-mini", "2025-04-16", 1.1, 0.275, 4.4],
]

/** From platform.claude.com/docs/en/about-claude/pricing, read in October 2026. Cache writes last 5 minutes. */
const ANTHROPIC: readonly ListedPrice[] = [
  ["claude-fable-5-1", "2026-09-01", 10, 0.25, 50, 12.5],
  ["claude-fable-5", "2026-06-10", 10, 1, 50, 12.5],
  ["claude-opus-5-5", "2026-09-22", 4, 0.2, 20, 5],
  ["claude-opus-5", "2026-07-24", 5, 0.5, 25, 6.25],
  ["claude-opus-4-8", "2026-06-04", 5, 0.5, 25, 6.25],
  ["claude-opus-4-7", "2026-06-04", 5, 0.5, 25, 6.25],
  ["claude-opus-4-6", "2026-06-04", 5, 0.5, 25, 6.25],
  ["claude-opus-4-5", "2025-11-24", 5, 0.5, 25, 6.25],
  ["claude-opus-4-1", "2025-08-05", 15, 1.5, 75, 18.75],
  ["claude-opus-4", "2025-05-22", 15, 1.5, 75, 18.75],
  ["claude-sonnet-5-5", "2026-10-07", 2, 0.1, 10, 2.5],
  ["claude-sonnet-5", "2026-06-30", 2, 0.2, 10, 2.5],
  ["claude-sonnet-4-6", "2026-06-04", 3, 0.3, 15, 3.75],
  ["claude-sonnet-4-5", "2025-09-29", 3, 0.3, 15, 3.75],
  ["claude-sonnet-4", "2025-05-22", 3, 0.3, 15, 3.75],
  // Valid for prompts up to 100,000 tokens. Longer ones cost five times as much.
  ["claude-haiku-5-5", "2026-10-07", 0.1, 0.01, 0.5, 0.125],
  ["claude-haiku-4-5", "2025-10-15", 1, 0.1, 5, 1.25],
  ["claude-3-5-haiku", "2024-12-05", 0.8, 0.08, 4, 1],
]

/**
 * From ai.google.dev/gemini-api/docs/pricing, read on 2026-10-07. Valid for text, with prompts up to 200,000 tokens.
 * The price of cached input of Gemini 3 is from LiteLLM.
 */
const GOOGLE: readonly ListedPrice[] = [
  ["gemini-3.8-flash", "2026-09-02", 0.75, 0.075, 3.75],
  // Announced with the price above, but without a price for cached input.
  ["gemini-3.8-flash", "2027-01-01", 1.5, null, 7.5],
  ["gemini-3.5-flash", "2026-05-19", 1.5, 0.15, 9],
  ["gemini-2.5-pro", "2025-10-01", 1.25, 0.125, 10],
  ["gemini-2.5-flash", "2025-10-01", 0.3, 0.03, 2.5],
  ["gemini-2.5-flash-lite", "2025-10-01", 0.1, 0.01, 0.4],
]

/**
 * From docs.x.ai/docs/models. 4.5 and 4.6 were read in August 2026 (prompts up to 200,000 tokens), the others in autumn
 * 2025.
 */
const XAI: readonly ListedPrice[] = [
  ["grok-4.6", "2026-08-07", 2, 0.5, 6],
  ["grok-4.5", "2026-07-09", 2, 0.5, 6],
  ["grok-4", "2025-07-09", 3, 0.75, 15],
  ["grok-4-fast-reasoning", "2025-09-19", 0.2, 0.05, 0.5],
  ["grok-4-fast-non-reasoning", "2025-09-19", 0.2, 0.05, 0.5],
  ["grok-3", "2025-04-09", 3, 0.75, 15],
]

/** From groq.com/pricing and console.groq.com/docs/models, read in May 2026; prices of cached input in autumn 2025. */
const GROQ: readonly ListedPrice[] = [
  ["llama-3.3-70b-versatile", "2024-12-06", 0.59, null, 0.79],
  ["llama-3.1-8b-instant", "2024-07-23", 0.05, null, 0.08],
  ["openai/gpt-oss-120b", "2025-10-01", 0.15, 0.075, 0.6],
  ["openai/gpt-oss-20b", "2025-10-01", 0.075, 0.037, 0.3],
]

/** The scripted models are free, because they run in the Worker itself. */
const SCRIPTED: readonly ListedPrice[] = [
  ["scripted", "1970-01-01", 0, null, 0],
  ["replay", "1970-01-01", 0, null, 0],
]

const LISTED: Readonly<Record<string, readonly ListedPrice[]>> = {
  openai: OPENAI,
  anthropic: ANTHROPIC,
  google: GOOGLE,
  xai: XAI,
  groq: GROQ,
  scripted: SCRIPTED,
}

export const BUILT_IN_PRICES: readonly PriceEntry[] = Object.entries(LISTED).flatMap(([provider, prices]) =>
  prices.map((price) => createEntry(provider, price)),
)

function createEntry(provider: string, [model, from, input, cached, output, cacheWrite]: ListedPrice): PriceEntry {
  return {
    provider,
    model,
    from,
    input: usdToNano(input),
    output: usdToNano(output),
    ...(cached === null ? {} : { cached: usdToNano(cached) }),
    ...(cacheWrite === undefined ? {} : { cacheWrite: usdToNano(cacheWrite) }),
  }
}
