/**
 * chart-figures.ts: the values of a chart: their range, their text form, and the side from which they are drawn.
 */

import type { ChartPayload } from "../../../shared/card/chart-payload.ts"
import { formatList } from "../../words/format/list-format.ts"
import { formatCount } from "../../words/format/number-format.ts"
import { formatLocale, getDirection } from "../../words/languages/language.ts"

/** Formats a value with its unit: "12,345 km", "12%". A no-break space keeps both on one line. */
export function formatFigure(value: number, unit: string): string {
  const figure = formatCount(value, { maximumFractionDigits: 6 })
  if (unit === "") return figure
  return /^[%°‰'"]/.test(unit) ? `${figure}${unit}` : `${figure}\u00a0${unit}`
}

/** Returns the drawing's text alternative for screen readers: "Tea 4, coffee 7". */
export function describeFigures({ unit, data }: ChartPayload): string {
  return formatList(data.map(({ label, value }) => `${label} ${formatFigure(value, unit)}`))
}

export interface Range {
  readonly low: number
  readonly high: number
}

/** Returns a range that contains all values and 0. It is never empty. */
export function findRangeWithZero({ data }: ChartPayload): Range {
  const values = data.map(({ value }) => value)
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)]
  return low === high ? { low, high: low + 1 } : { low, high }
}

/** Returns the position of a value in a range, from 0 to 100. */
export function toPercent(value: number, { low, high }: Range): number {
  // Divides first, because the difference between two large values may overflow.
  return (value / (high - low) - low / (high - low)) * 100
}

/** Returns whether the page is written from right to left. If so, charts are also drawn from the right. */
export function isMirrored(): boolean {
  return getDirection(formatLocale.value) === "rtl"
}
