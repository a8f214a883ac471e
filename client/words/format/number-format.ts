/** number-format.ts: numbers and dates in the chosen language. Pure, except for the language and the time zone. */

import { formatLocale } from "../languages/language.ts"

/** Creating a format takes a thousand times longer than using it, and each message shows its time. */
const formats = new Map<string, Intl.NumberFormat | Intl.DateTimeFormat>()
/** The page has about 20 sets of options. */
const MAX_FORMATS = 100

function findFormat<T extends Intl.NumberFormat | Intl.DateTimeFormat>(
  create: new (locale: string, options: object) => T,
  options: object,
): T {
  const locale = formatLocale.value
  const key = `${create.name} ${locale} ${JSON.stringify(options)}`
  const known = formats.get(key)
  if (known instanceof create) return known
  if (formats.size >= MAX_FORMATS) formats.clear()
  const format = new create(locale, options)
  formats.set(key, format)
  return format
}

/** 12345 → "12,345" */
export function formatCount(count: number, options?: Intl.NumberFormatOptions): string {
  // Browsers keep the format without options.
  if (options === undefined) return count.toLocaleString(formatLocale.value)
  return findFormat(Intl.NumberFormat, options).format(count)
}

/** `at`: milliseconds since 1970, or a date that `Date` parses. */
export function formatDate(at: number | string, options: Intl.DateTimeFormatOptions): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? String(date) : findFormat(Intl.DateTimeFormat, options).format(date)
}
