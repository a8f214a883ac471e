/**
 * report-time.ts: decides when a user's directory reports a remainder of fewer than RENEW_TURNS turns to the tenant.
 * Pure: time is an argument.
 */

import { findPeriodEnd, findPeriodStart, toMonth } from "../../shared/usage/period.ts"

/**
 * The remainders of a month are reported within this time after its end, in milliseconds. With 500,000 users, that is
 * 12 reports a second. SPEC MT19.
 */
export const USAGE_CLOSING_MS = 12 * 60 * 60_000

/**
 * Returns when the remainder of a month is reported, in milliseconds since 1970. Each directory has its own time, which
 * a restart does not change. A future day, which occurs if the clock was set back, is treated as today. A day of any
 * earlier month is treated as a day of last month.
 *
 * @param day the oldest day of the remainder, for example `2026-11-22`
 * @param key the name of the directory
 */
export function findClosingTime(day: string, now: number, key: string): number {
  const isOver = day.slice(0, 7) < toMonth(now)
  const end = isOver ? findPeriodStart("month", now) : findPeriodEnd("month", now)
  return end + Math.floor(hashToUnit(key) * USAGE_CLOSING_MS)
}

/** Hashes a key to a number that is evenly distributed in [0, 1): FNV-1a, with its bits mixed once more. */
function hashToUnit(key: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32
}
