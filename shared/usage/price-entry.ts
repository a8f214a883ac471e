/**
 * price-entry.ts: the price of a model, valid from a given day.
 *
 * A price is an integer number of nano-dollars (1e-9 USD) per million tokens, so that sums are exact.
 */

/** Prices in nano-dollars per million tokens. */
export interface TokenPrices {
  readonly input: number
  /** Input tokens read from the provider's cache. Absent: same as `input`. */
  readonly cached?: number
  /** Input tokens written to the provider's cache. Absent: same as `input`. */
  readonly cacheWrite?: number
  /** Output tokens, including reasoning. */
  readonly output: number
}

export interface PriceEntry extends TokenPrices {
  /** If absent, the entry applies to the model from any provider. */
  readonly provider?: string
  readonly model: string
  /**
   * First day on which the entry is valid, in UTC: `2026-01-31`. The entry ends when the next entry for the same model
   * begins.
   */
  readonly from: string
  /** Last day on which the entry is valid. If absent, it is valid until the next entry. */
  readonly until?: string
}

export const NANO_PER_USD = 1_000_000_000

/** Returns an amount in nano-dollars, rounded. */
export function usdToNano(usd: number): number {
  return Math.round(usd * NANO_PER_USD)
}
