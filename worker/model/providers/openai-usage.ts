/**
 * openai-usage.ts: reads the usage in the chunks of an OpenAI-compatible stream.
 *
 * OpenAI sends the usage in the last chunk, other systems in every chunk. Each system has its own names for cached
 * tokens.
 */

import { cleanTokenCounts, type TokenCounts } from "../../../shared/usage/call-usage.ts"
import type { UsageReader } from "../model-stream.ts"

export function createUsageReader(): UsageReader {
  let last = ""
  return {
    *read(chunk) {
      const tokens = isRecord(chunk) ? parseUsage(chunk["usage"]) : null
      const text = tokens === null ? last : Object.values(tokens).join()
      if (tokens === null || text === last) return
      last = text
      yield { type: "usage", tokens }
    },
  }
}

/** Returns the counts of a `usage` object; null if there is none. */
export function parseUsage(usage: unknown): TokenCounts | null {
  if (!isRecord(usage)) return null
  const inputDetails = readRecord(usage, "prompt_tokens_details")
  const outputDetails = readRecord(usage, "completion_tokens_details")
  const input = usage["prompt_tokens"]
  const reasoning = outputDetails["reasoning_tokens"]
  return cleanTokenCounts({
    input,
    // The names that OpenAI, DeepSeek, and LiteLLM for Anthropic use, in this order.
    cached: inputDetails["cached_tokens"] ?? usage["prompt_cache_hit_tokens"] ?? usage["cache_read_input_tokens"],
    // The first name is OpenRouter's, and the others are LiteLLM's.
    cacheWritten:
      inputDetails["cache_write_tokens"] ??
      inputDetails["cache_creation_tokens"] ??
      usage["cache_creation_input_tokens"],
    output: sumOutput(input, usage["completion_tokens"], reasoning, usage["total_tokens"]),
    reasoning,
  })
}

/**
 * Returns the number of output tokens, including reasoning tokens. xAI doesn't count reasoning as completion tokens, as
 * its total shows.
 */
function sumOutput(input: unknown, completion: unknown, reasoning: unknown, total: unknown): unknown {
  if (typeof completion !== "number" || typeof reasoning !== "number" || reasoning <= 0) return completion
  const isApart = typeof input === "number" && total === input + completion + reasoning
  return isApart || reasoning > completion ? completion + reasoning : completion
}

function readRecord(record: Readonly<Record<string, unknown>>, name: string): Readonly<Record<string, unknown>> {
  const value = record[name]
  return isRecord(value) ? value : {}
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
