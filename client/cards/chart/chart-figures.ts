/**
 * chart-figures.ts: the values of a chart: their range, how they are written, and the side from which they are drawn.
 */

import type { ChartPayload } from "../../../shared/card/chart-payload.ts"
import { formatList } from "../../words/format/list-format.ts"
import { formatCount } from "../../words/format/number-format.ts"
import { formatLocale, getDirection } from "../../words/languages/language.ts"

/** "12,345 km", "12%". A no-break space keeps the number and its unit on one line. */
export function formatFigure(value: number, unit: string): string {
  const figure = formatCount(value, { maximumFractionDigits: 6 })
  if (unit === "") return figure
  return /^[%°‰'"]/.test(unit) ? `${figure}${unit}` : `${figure}\u00a0${unit}`
}

/** "Tea 4, coffee 7": what a screen reader says instead of showing the drawing. */
export function describeFigures({ unit, data }: ChartPayload): string {
  return formatList(data.map(({ label, value }) => `${label} ${formatFigure(value, unit)}`))
}

export interface Range {
  readonly low: number
  readonly high: number
}

/** Returns the range of the values and 0. Never empty. */
export function findRangeWithZero({ data }: ChartPayload): Range {
  const values = data.map(({ value }) => value)
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)]
  return low === high ? { low, high: low + 1 } : { low, high }
}

/** Returns the position of a value in a range, from 0 to 100. */
export function toPercent(value: number, { low, high }: Range): number {
  // Divided first, because the difference between two large values may overflow.
  return (value / (high - low) - low / (high - low)) * 100
}

/** Whether the page is written from right to left. The chart is then drawn from the right, too. */
export function isMirrored(): boolean {
  return getDirection(formatLocale.value) === "rtl"
}
