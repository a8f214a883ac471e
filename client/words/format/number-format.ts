/** number-format.ts: numbers and dates in the chosen language. Pure, except for the language and the time zone. */

import { formatLocale } from "../languages/language.ts"

/** 12345 → "12,345" */
export function formatCount(count: number, options?: Intl.NumberFormatOptions): string {
  return count.toLocaleString(formatLocale.value, options)
}

/** `at`: milliseconds since 1970, or a date that `Date` parses. */
export function formatDate(at: number | string, options: Intl.DateTimeFormatOptions): string {
  return new Date(at).toLocaleString(formatLocale.value, options)
}
