/** date-format.ts: dates in the chosen language. Pure, except for the language and the time zone. */

import { findFormat } from "./number-format.ts"

/** Formats a date. `at` is a time in milliseconds since 1970, or a string that `Date` can parse. */
export function formatDate(at: number | string, options: Intl.DateTimeFormatOptions): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? String(date) : findFormat(Intl.DateTimeFormat, options).format(date)
}
