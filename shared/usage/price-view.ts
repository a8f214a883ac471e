/** price-view.ts: prices as JSON, in USD per million tokens. */

import { NANO_PER_USD, type PriceEntry } from "./price-entry.ts"

export interface PriceView {
  /** If absent, the price applies to the model from any provider. */
  readonly provider?: string
  readonly model: string
  /** First day on which the price is valid, in UTC: `2026-01-31`. */
  readonly from: string
  /** Last day on which the price is valid. If absent, it is valid until the model's next entry. */
  readonly until?: string
  readonly input: number
  readonly output: number
  /** Null means the same as `input`. */
  readonly cached: number | null
  readonly cache_write: number | null
}

export interface PricesView {
  /** The tenant's own prices, which take precedence. */
  readonly prices: readonly PriceView[]
  readonly built_in: readonly PriceView[]
  /** Identifies the current state of `prices`. Servers of earlier versions don't return it. */
  readonly revision?: string
}

export function pricesToView(entries: readonly PriceEntry[]): PriceView[] {
  return entries.map(({ provider, model, from, until, input, output, cached, cacheWrite }) => ({
    ...(provider === undefined ? {} : { provider }),
    model,
    from,
    ...(until === undefined ? {} : { until }),
    input: input / NANO_PER_USD,
    output: output / NANO_PER_USD,
    cached: cached === undefined ? null : cached / NANO_PER_USD,
    cache_write: cacheWrite === undefined ? null : cacheWrite / NANO_PER_USD,
  }))
}
