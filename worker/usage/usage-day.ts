/** usage-day.ts: the days by which usage is summed. They are days in UTC, as `2026-01-31`. */

/** The last day that has this form, in milliseconds since 1970. */
const MAX_DAY_MS = Date.UTC(9999, 11, 31)

/** The day of a time in milliseconds since 1970. */
export function toDay(atMs: number): string {
  return new Date(Math.min(Math.max(atMs, 0), MAX_DAY_MS)).toISOString().slice(0, 10)
}

/** Whether a text names a day that exists. */
export function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)) && toDay(Date.parse(text)) === text
}
