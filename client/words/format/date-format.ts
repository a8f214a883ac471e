/** date-format.ts: dates in the chosen language. Pure, except for the language and the time zone. */

import { findFormat } from "./number-format.ts"

/** `at`: milliseconds since 1970, or a date that `Date` parses. */
export function formatDate(at: number | string, options: Intl.DateTimeFormatOptions): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? String(date) : findFormat(Intl.DateTimeFormat, options).format(date)
}
