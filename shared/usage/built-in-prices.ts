/**
 * built-in-prices.ts: the published list prices of common models, in USD per million tokens.
 *
 * Sources, as read in autumn 2025: openai.com/api/pricing, claude.com/pricing (5-minute cache writes), ai.google.dev/pricing
 * (prompts up to 200,000 tokens), mistral.ai/pricing, x.ai/api, api-docs.deepseek.com/quick_start/pricing, groq.com/pricing.
 * A provider can change its prices at any time: a tenant overrides an entry with `PUT /v1/prices`.
 */

import { type PriceEntry, usdToNano } from "./price-entry.ts"

/** Provider, model, first day, and the prices of input, cached input, output, and of cache writes if they differ from input. */
type ListedPrice = readonly [string, string, string, number, number | null, number, number?]

const LISTED: readonly ListedPrice[] = [
  ["openai", "gpt-5", "2025-08-07", 1.25, 0.125, 10],
  ["openai", "gpt-5-chat-latest", "2025-08-07", 1.25, 0.125, 10],
  ["openai", "gpt-5-codex", "2025-09-23", 1.25, 0.125, 10],
  ["openai", "gpt-5-mini", "2025-08-07", 0.25, 0.025, 2],
  ["openai", "gpt-5-nano", "2025-08-07", 0.05, 0.005, 0.4],
  ["openai", "gpt-5-pro", "2025-10-06", 15, null, 120],
  ["openai", "gpt-5.1", "2025-11-13", 1.25, 0.125, 10],
  ["openai", "gpt-4.1", "2025-04-14", 2, 0.5, 8],
  ["openai", "gpt-4.1-mini", "2025-04-14", 0.4, 0.1, 1.6],
  ["openai", "gpt-4.1-nano", "2025-04-14", 0.1, 0.025, 0.4],
  ["openai", "gpt-4o", "2024-10-01", 2.5, 1.25, 10],
  ["openai", "gpt-4o-mini", "2024-10-01", 0.15, 0.075, 0.6],
  ["openai", "o3", "2025-04-16", 10, 2.5, 40],
  ["openai", "o3", "2025-06-10", 2, 0.5, 8],
  ["openai", "o3-pro", "2025-06-10", 20, null, 80],
  ["openai", "o4-mini", "2025-04-16", 1.1, 0.275, 4.4],
  ["anthropic", "claude-opus-4-1", "2025-08-05", 15, 1.5, 75, 18.75],
  ["anthropic", "claude-opus-4", "2025-05-22", 15, 1.5, 75, 18.75],
  ["anthropic", "claude-sonnet-4-5", "2025-09-29", 3, 0.3, 15, 3.75],
  ["anthropic", "claude-sonnet-4", "2025-05-22", 3, 0.3, 15, 3.75],
  ["anthropic", "claude-haiku-4-5", "2025-10-15", 1, 0.1, 5, 1.25],
  ["anthropic", "claude-3-5-haiku", "2024-11-04", 1, 0.1, 5, 1.25],
  ["anthropic", "claude-3-5-haiku", "2024-12-05", 0.8, 0.08, 4, 1],
  ["google", "gemini-2.5-pro", "2025-06-17", 1.25, 0.31, 10],
  ["google", "gemini-2.5-pro", "2025-10-01", 1.25, 0.125, 10],
  ["google", "gemini-2.5-flash", "2025-06-17", 0.3, 0.075, 2.5],
  ["google", "gemini-2.5-flash", "2025-10-01", 0.3, 0.03, 2.5],
  ["google", "gemini-2.5-flash-lite", "2025-07-22", 0.1, 0.025, 0.4],
  ["google", "gemini-2.5-flash-lite", "2025-10-01", 0.1, 0.01, 0.4],
  ["mistral", "mistral-large-latest", "2024-11-18", 2, null, 6],
  ["mistral", "mistral-medium-latest", "2025-05-07", 0.4, null, 2],
  ["mistral", "mistral-small-latest", "2025-03-17", 0.1, null, 0.3],
  ["xai", "grok-4", "2025-07-09", 3, 0.75, 15],
  ["xai", "grok-4-fast-reasoning", "2025-09-19", 0.2, 0.05, 0.5],
  ["xai", "grok-4-fast-non-reasoning", "2025-09-19", 0.2, 0.05, 0.5],
  ["xai", "grok-3", "2025-04-09", 3, 0.75, 15],
  ["deepseek", "deepseek-chat", "2025-09-05", 0.56, 0.07, 1.68],
  ["deepseek", "deepseek-chat", "2025-09-29", 0.28, 0.028, 0.42],
  ["deepseek", "deepseek-reasoner", "2025-09-05", 0.56, 0.07, 1.68],
  ["deepseek", "deepseek-reasoner", "2025-09-29", 0.28, 0.028, 0.42],
  ["groq", "llama-3.3-70b-versatile", "2024-12-06", 0.59, null, 0.79],
  ["groq", "llama-3.1-8b-instant", "2024-07-23", 0.05, null, 0.08],
  ["groq", "openai/gpt-oss-120b", "2025-10-01", 0.15, 0.075, 0.6],
  ["groq", "openai/gpt-oss-20b", "2025-10-01", 0.075, 0.037, 0.3],
  // They run in the Worker itself.
  ["scripted", "scripted", "1970-01-01", 0, null, 0],
  ["scripted", "replay", "1970-01-01", 0, null, 0],
]

export const BUILT_IN_PRICES: readonly PriceEntry[] = LISTED.map(
  ([provider, model, from, input, cached, output, cacheWrite]) => ({
    provider,
    model,
    from,
    input: usdToNano(input),
    output: usdToNano(output),
    ...(cached === null ? {} : { cached: usdToNano(cached) }),
    ...(cacheWrite === undefined ? {} : { cacheWrite: usdToNano(cacheWrite) }),
  }),
)
