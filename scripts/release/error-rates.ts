/**
 * error-rates.ts: decides from the counted requests whether a new version fails more often than the old one. Pure.
 */

import type { RequestCount } from "./platform-api.ts"

/** Minimum difference between the error rates that matters to users: half a request in a hundred. */
const MIN_DIFFERENCE = 0.005
/** Minimum number of failed requests. Fewer are not enough evidence, however few requests there were. */
const MIN_FAILED = 3
/**
 * Minimum difference between the two rates, in standard errors. A healthy version exceeds this by chance once in 740
 * independent comparisons. A stage compares about 20 times and a deploy 60 times, on counts that mostly overlap, so a
 * healthy version is rolled back more often than that: in the worst case, once in 12 deploys.
 */
const MIN_DEVIATION = 3

/**
 * Whether the new version is worse: its rate of failed requests is higher by MIN_DIFFERENCE and by MIN_DEVIATION
 * standard errors of the difference (two proportions, pooled).
 */
export function isWorse(before: RequestCount, after: RequestCount): boolean {
  if (after.requests === 0 || after.failed < MIN_FAILED) return false
  const difference = getErrorRate(after) - getErrorRate(before)
  if (difference < MIN_DIFFERENCE) return false
  // If the old version had no requests, its rate counts as 0, as if it had had as many requests as the new one.
  const base = Math.max(before.requests, 1)
  const pooled = Math.min((before.failed + after.failed) / (before.requests + after.requests), 1)
  const deviation = Math.sqrt(pooled * (1 - pooled) * (1 / base + 1 / after.requests))
  return before.requests === 0 || difference >= MIN_DEVIATION * deviation
}

/** Returns the share of failed requests, between 0 and 1; 0 without requests. */
export function getErrorRate({ requests, failed }: RequestCount): number {
  return requests === 0 ? 0 : Math.min(failed / requests, 1)
}

/** Formats a count, such as `12 of 4800 requests failed (0.25 %)`. */
export function describeCount(count: RequestCount): string {
  return `${count.failed} of ${count.requests} requests failed (${(getErrorRate(count) * 100).toFixed(2)} %)`
}
