/**
 * usage-recorder.ts: the only code that prices and records a finished model call.
 *
 * model events → call meter → RECORDER → turn usage → the turn's next write
 */

import type { CallUsage, PricedCall } from "../../shared/usage/call-usage.ts"
import { computeCost } from "../../shared/usage/cost.ts"
import { toDay } from "../../shared/usage/period.ts"
import type { PriceEntry } from "../../shared/usage/price-entry.ts"

export interface UsageRecorder {
  /** Prices a call that has ended, with or without success. The turn's next write stores it. Cost: no I/O. */
  recordCall(call: CallUsage, builtInPrices: readonly PriceEntry[]): PricedCall
}

export interface UsageRecorderOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Returns the tenant's own prices, which take precedence over the built-in ones. */
  readonly listPrices: () => readonly PriceEntry[]
  /** Called with each recorded call. */
  readonly onCall?: (call: PricedCall) => void
}

export function createUsageRecorder({ now, listPrices, onCall }: UsageRecorderOptions): UsageRecorder {
  return {
    recordCall(call, builtInPrices) {
      const lists = [listPrices(), builtInPrices]
      const day = toDay(now())
      const known = { ...call, cost: computeCost(call, lists, day) }
      const { estimated } = call
      const cost = estimated && computeCost({ ...call, ...estimated, isReported: true }, lists, day)
      const priced = cost == null ? known : { ...known, estimatedCost: cost }
      onCall?.(priced)
      return priced
    },
  }
}
