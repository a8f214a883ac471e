/**
 * relative-time.ts: short descriptions of when a session was last active, and the sidebar's date groups.
 *
 * Pure, except for the language and the time zone.
 */

import type { SessionSummary } from "../../../shared/protocol/http-body.ts"
import { timeText } from "../page-text.ts"
import { formatCount } from "./number-format.ts"
import { formatDate } from "./date-format.ts"

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

export interface DateGroup {
  readonly name: string
  readonly sessions: readonly SessionSummary[]
}

/** Returns the number of calendar days between `at` and `now`; at least 0, in case a clock is ahead. */
function countDaysAgo(at: number, now: number): number {
  const [then, today] = [new Date(at), new Date(now)]
  const toUtcDay = (day: Date): number => Date.UTC(day.getFullYear(), day.getMonth(), day.getDate())
  return Math.max(0, Math.round((toUtcDay(today) - toUtcDay(then)) / (24 * HOUR_MS)))
}

/** "now", "5 min", "3 hr", "Yesterday", "Mon", "May 12", "May 12, 2025", in the chosen language. */
export function formatRelativeTime(at: number, now: number): string {
  const days = countDaysAgo(at, now)
  if (days === 0) {
    const ms = Math.max(0, now - at)
    if (ms < MINUTE_MS) return timeText.now
    return ms < HOUR_MS ? formatUnit(ms / MINUTE_MS, "minute") : formatUnit(ms / HOUR_MS, "hour")
  }
  if (days === 1) return timeText.yesterday
  if (days < 7) return formatDate(at, { weekday: "short" })
  const isThisYear = new Date(at).getFullYear() === new Date(now).getFullYear()
  return formatDate(at, { day: "numeric", month: "short", ...(isThisYear ? {} : { year: "numeric" }) })
}

/** Formats a number of time units, rounded down to a whole number: "5 min". */
function formatUnit(count: number, unit: "minute" | "hour"): string {
  return formatCount(Math.floor(count), { style: "unit", unit })
}

function getDateGroupName(at: number, now: number): string {
  const days = countDaysAgo(at, now)
  if (days === 0) return timeText.groups.today
  if (days < 7) return timeText.groups.week
  return days < 30 ? timeText.groups.month : timeText.groups.older
}

/** Splits the sessions, which are sorted newest first, into date groups. */
export function groupByDate(sessions: readonly SessionSummary[], now: number): readonly DateGroup[] {
  const names = [...new Set(sessions.map(({ active }) => getDateGroupName(active, now)))]
  return names.map((name) => ({
    name,
    sessions: sessions.filter(({ active }) => getDateGroupName(active, now) === name),
  }))
}
