/** usage-totals.ts: totals of model calls, by day, model and agent. */

import { addCounts, countCall, NO_TOKENS, type PricedCall, type TokenCounts } from "./call-usage.ts"

export interface UsageTotals extends TokenCounts {
  readonly calls: number
  /** The number of calls whose cost is unknown. For these calls, `cost` includes at most an estimate. */
  readonly unpricedCalls: number
  readonly retries: number
  /** Nano-dollars. */
  readonly cost: number
}

/** What an entry's totals are grouped by. */
export interface UsageKey {
  /** The day in UTC: `2026-01-31`. */
  readonly day: string
  readonly provider: string
  readonly model: string
  readonly agent: string
}

export interface UsageEntry extends UsageKey, UsageTotals {}

export const NO_USAGE: UsageTotals = { ...NO_TOKENS, calls: 0, unpricedCalls: 0, retries: 0, cost: 0 }

/** Returns the calls of one turn, as entries. */
export function callsToEntries(calls: readonly PricedCall[], day: string, agent: string): UsageEntry[] {
  return mergeEntries(
    calls.map((call) => {
      const { provider, model, retries, cached, cacheWritten, reasoning } = call
      const { input, output, cost } = countCall(call)
      const tokens = { input, cached, cacheWritten, output, reasoning }
      const unpricedCalls = call.cost === null ? 1 : 0
      return { day, provider, model, agent, ...tokens, calls: 1, unpricedCalls, retries, cost }
    }),
  )
}

/** Returns one entry per key, in the order of first appearance. */
export function mergeEntries(entries: readonly UsageEntry[]): UsageEntry[] {
  const merged = new Map<string, UsageEntry>()
  for (const entry of entries) {
    const { day, provider, model, agent } = entry
    const key = JSON.stringify([day, provider, model, agent])
    const known = merged.get(key)
    merged.set(key, known === undefined ? entry : { day, provider, model, agent, ...addTotals(known, entry) })
  }
  return [...merged.values()]
}

/** Returns the sum of two totals. Every number remains a safe integer (`addCounts`). */
export function addTotals(one: UsageTotals, other: UsageTotals): UsageTotals {
  return {
    calls: addCounts(one.calls, other.calls),
    unpricedCalls: addCounts(one.unpricedCalls, other.unpricedCalls),
    retries: addCounts(one.retries, other.retries),
    input: addCounts(one.input, other.input),
    cached: addCounts(one.cached, other.cached),
    cacheWritten: addCounts(one.cacheWritten, other.cacheWritten),
    output: addCounts(one.output, other.output),
    reasoning: addCounts(one.reasoning, other.reasoning),
    cost: addCounts(one.cost, other.cost),
  }
}
