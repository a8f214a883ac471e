/**
 * call-usage.ts: the usage of one model call: token counts, time to the first chunk, retries.
 *
 * The numbers and names come from a provider, so they are bounded before any other code uses them.
 */

import { cutText } from "../text/cut-text.ts"

/** The token counts of one call. `input` includes `cached` and `cacheWritten`; `output` includes `reasoning`. */
export interface TokenCounts {
  readonly input: number
  /** Input tokens that the provider read from its cache. */
  readonly cached: number
  /** Input tokens that the provider wrote to its cache. */
  readonly cacheWritten: number
  readonly output: number
  readonly reasoning: number
}

/** One model call, however it ended. All counts are non-negative safe integers. */
export interface CallUsage extends TokenCounts {
  readonly provider: string
  readonly model: string
  /** Milliseconds from the request to the first chunk of the response; null if none arrived. */
  readonly firstChunkMs: number | null
  /** Number of attempts that failed before this one. */
  readonly retries: number
  /** Whether the provider reported the token counts. If not, they are 0. */
  readonly isReported: boolean
  /**
   * Present only if the provider has sent content but reported no tokens, for example because the answer was stopped.
   */
  readonly estimated?: Pick<TokenCounts, "input" | "output">
}

/** A call with its cost in nano-dollars (1e-9 USD). If the cost is unknown, it is null. */
export interface PricedCall extends CallUsage {
  readonly cost: number | null
  /** The cost of `estimated`, if the price is known. */
  readonly estimatedCost?: number
}

/**
 * Returns a call's token counts and cost for totals and budgets: the estimate if there is one, or else the reported
 * values.
 */
export function countCall(call: PricedCall): Pick<TokenCounts, "input" | "output"> & { readonly cost: number } {
  const { input, output } = call.estimated ?? call
  return { input, output, cost: call.cost ?? call.estimatedCost ?? 0 }
}

export const NO_TOKENS: TokenCounts = { input: 0, cached: 0, cacheWritten: 0, output: 0, reasoning: 0 }

/**
 * Largest number of tokens that a call can report. A larger number is an error by the provider, and would dwarf all
 * others in the totals.
 */
export const MAX_CALL_TOKENS = 1_000_000_000

/** Maximum length of a stored provider or model name, in UTF-16 code units. */
export const MAX_MODEL_NAME_CHARS = 200

/** Counts as a provider reports them. Any of them may be missing, negative or not a number. */
export interface ReportedCounts {
  readonly input?: unknown
  readonly cached?: unknown
  readonly cacheWritten?: unknown
  readonly output?: unknown
  readonly reasoning?: unknown
}

/** Returns consistent counts: a part is never larger than the whole. */
export function cleanTokenCounts(reported: ReportedCounts): TokenCounts {
  const input = cleanCount(reported.input)
  const cached = Math.min(cleanCount(reported.cached), input)
  const cacheWritten = Math.min(cleanCount(reported.cacheWritten), input - cached)
  const output = cleanCount(reported.output)
  return { input, cached, cacheWritten, output, reasoning: Math.min(cleanCount(reported.reasoning), output) }
}

function cleanCount(value: unknown): number {
  return typeof value === "number" && value > 0 ? Math.min(Math.floor(value), MAX_CALL_TOKENS) : 0
}

/** Returns a provider's or model's name without control and invisible characters, on one line. */
export function cleanModelName(name: string): string {
  const line = name.slice(0, 4 * MAX_MODEL_NAME_CHARS).replace(/[\p{C}\p{Z}]+/gu, " ")
  return cutText(line.trim(), MAX_MODEL_NAME_CHARS) || "unknown"
}

/** Returns the token counts of several calls, added up. */
export function sumTokens(calls: readonly TokenCounts[]): TokenCounts {
  const sum = { ...NO_TOKENS }
  for (const call of calls) {
    sum.input = addCounts(sum.input, call.input)
    sum.cached = addCounts(sum.cached, call.cached)
    sum.cacheWritten = addCounts(sum.cacheWritten, call.cacheWritten)
    sum.output = addCounts(sum.output, call.output)
    sum.reasoning = addCounts(sum.reasoning, call.reasoning)
  }
  return sum
}

/** Returns the sum of two counts; at most the largest safe integer, so that a sum below this limit is always exact. */
export function addCounts(one: number, other: number): number {
  return Math.min(one + other, Number.MAX_SAFE_INTEGER)
}
