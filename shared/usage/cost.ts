/** cost.ts: computes the cost of a model call, in nano-dollars (1e-9 USD). */

import type { CallUsage } from "./call-usage.ts"
import type { TokenPrices } from "./price-entry.ts"
import { findPrice, type PriceLists } from "./price-table.ts"

/** Prices are per million tokens. */
const TOKENS_PER_PRICE = 1_000_000n

/**
 * Returns the cost of a call on a day (`2026-01-31`, UTC), rounded to a nano-dollar. Returns null if the price is
 * unknown, or if the provider sent a response without reporting its token counts.
 */
export function computeCost(call: CallUsage, lists: PriceLists, day: string): number | null {
  // A call that was refused at once used nothing.
  if (!call.isReported) return call.firstChunkMs === null ? 0 : null
  const prices = findPrice(call, lists, day)
  return prices === null ? null : multiplyTokens(call, prices)
}

function multiplyTokens({ input, cached, cacheWritten, output }: CallUsage, prices: TokenPrices): number {
  const parts = [
    [input - cached - cacheWritten, prices.input],
    [cached, prices.cached ?? prices.input],
    [cacheWritten, prices.cacheWrite ?? prices.input],
    [output, prices.output],
  ] as const
  // The product of a count and a price can exceed 2^53.
  const sum = parts.reduce((total, [count, price]) => total + BigInt(count) * BigInt(price), 0n)
  const cost = (sum + TOKENS_PER_PRICE / 2n) / TOKENS_PER_PRICE
  return Number(cost > BigInt(Number.MAX_SAFE_INTEGER) ? BigInt(Number.MAX_SAFE_INTEGER) : cost)
}
