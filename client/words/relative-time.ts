/**
 * relative-time.ts: when something was last said, in a word or two, and under which heading that stands. Pure but for the
 * machine's calendar and language.
 */

import type { SessionSummary } from "../../shared/protocol/http-body.ts"

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

export interface DateGroup {
  readonly name: string
  readonly sessions: readonly SessionSummary[]
}

/** Days between the calendar day of `at` and that of `now`; never below 0, should a clock be ahead. */
function countDaysAgo(at: number, now: number): number {
  const [then, today] = [new Date(at), new Date(now)]
  const toUtcDay = (day: Date): number => Date.UTC(day.getFullYear(), day.getMonth(), day.getDate())
  return Math.max(0, Math.round((toUtcDay(today) - toUtcDay(then)) / (24 * HOUR_MS)))
}

/** "now", "5 min", "3 h", "Yesterday", "Mon", "12 May", "12 May 2025". */
export function formatRelativeTime(at: number, now: number): string {
  const days = countDaysAgo(at, now)
  if (days === 0) {
    const ms = Math.max(0, now - at)
    if (ms < MINUTE_MS) return "now"
    return ms < HOUR_MS ? `${Math.floor(ms / MINUTE_MS)} min` : `${Math.floor(ms / HOUR_MS)} h`
  }
  if (days === 1) return "Yesterday"
  const day = new Date(at)
  if (days < 7) return day.toLocaleDateString("en-GB", { weekday: "short" })
  const isThisYear = day.getFullYear() === new Date(now).getFullYear()
  return day.toLocaleDateString("en-GB", {
    day: "numeric",
    month: "short",
    ...(isThisYear ? {} : { year: "numeric" }),
  })
}

function getDateGroupName(at: number, now: number): string {
  const days = countDaysAgo(at, now)
  if (days === 0) return "Today"
  if (days < 7) return "Last 7 days"
  return days < 30 ? "Last 30 days" : "Older"
}

/** The list as it comes, newest first, under headings. */
export function groupByDate(sessions: readonly SessionSummary[], now: number): readonly DateGroup[] {
  const names = [...new Set(sessions.map(({ active }) => getDateGroupName(active, now)))]
  return names.map((name) => ({
    name,
    sessions: sessions.filter(({ active }) => getDateGroupName(active, now) === name),
  }))
}
