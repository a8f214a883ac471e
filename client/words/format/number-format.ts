/** number-format.ts: formats numbers in the chosen language. Pure, except for the language. */

import { formatLocale } from "../languages/language.ts"

/** Creating a format takes a thousand times longer than using it, and each message shows its time. */
const formats = new Map<string, Intl.NumberFormat | Intl.DateTimeFormat | Intl.ListFormat>()
/** The page has about 20 sets of options. */
const MAX_FORMATS = 100

/** Returns the format with these options for the chosen language. */
export function findFormat<T extends Intl.NumberFormat | Intl.DateTimeFormat | Intl.ListFormat>(
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
  // Browsers cache the format without options.
  if (options === undefined) return count.toLocaleString(formatLocale.value)
  return findFormat(Intl.NumberFormat, options).format(count)
}
