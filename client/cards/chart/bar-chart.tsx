/**
 * bar-chart.tsx: a row for each data point: the label, the value, and a bar below both.
 *
 * Horizontal positions are percentages, so the drawing fits any width and its text keeps the page's size.
 */

import type { VNode } from "preact"
import type { ChartPayload } from "../../../shared/card/chart-payload.ts"
import { toExcerpt } from "../../words/format/excerpt.ts"
import { describeFigures, findRangeWithZero, formatFigure, isMirrored, type Range, toPercent } from "./chart-figures.ts"

/** Heights and distances from the top of a row, in CSS pixels. */
const ROW_PX = 42
const TEXT_BASELINE_PX = 17
const BAR_TOP_PX = 25
const BAR_PX = 8
/** Minimum length of a bar, as a percentage of the width. Shorter bars would be invisible. */
const MIN_BAR_PERCENT = 0.6
/** Maximum length of a label, in UTF-16 code units. On a phone, a longer label would overlap the value. */
const MAX_SHOWN_LABEL_CHARS = 28

export function BarChart({ chart }: { readonly chart: ChartPayload }): VNode {
  const range = findRangeWithZero(chart)
  return (
    <svg class="plot bars" height={chart.data.length * ROW_PX} role="img" aria-label={describeFigures(chart)}>
      {chart.data.map(({ label, value }, at) => (
        <BarRow key={at} label={label} figure={formatFigure(value, chart.unit)} value={value} range={range} at={at} />
      ))}
    </svg>
  )
}

interface BarRowProps {
  readonly label: string
  readonly figure: string
  readonly value: number
  readonly range: Range
  readonly at: number
}

function BarRow({ label, figure, value, range, at }: BarRowProps): VNode {
  const [start, end] = [toPercent(Math.min(0, value), range), toPercent(Math.max(0, value), range)]
  const width = Math.max(end - start, MIN_BAR_PERCENT)
  const left = Math.min(start, 100 - width)
  const top = at * ROW_PX
  const isRtl = isMirrored()
  return (
    <g>
      <title>{`${label}: ${figure}`}</title>
      <text x={isRtl ? "100%" : "0"} y={top + TEXT_BASELINE_PX}>
        {toExcerpt(label, MAX_SHOWN_LABEL_CHARS)}
      </text>
      <text class="figure" x={isRtl ? "0" : "100%"} y={top + TEXT_BASELINE_PX}>
        {figure}
      </text>
      <rect class="track" x="0" y={top + BAR_TOP_PX} width="100%" height={BAR_PX} rx={BAR_PX / 2} />
      <rect
        class="bar"
        x={`${isRtl ? 100 - left - width : left}%`}
        y={top + BAR_TOP_PX}
        width={`${width}%`}
        height={BAR_PX}
        rx={BAR_PX / 2}
      />
    </g>
  )
}
