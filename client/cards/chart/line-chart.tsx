/**
 * line-chart.tsx: a line through the values. Above the line are the label and value of one point: the one under the
 * pointer or chosen with the arrow keys, and initially the last one.
 */

import { type Signal, useSignal } from "@preact/signals"
import type { VNode } from "preact"
import type { ChartPayload } from "../../../shared/card/chart-payload.ts"
import { chartText } from "../../words/settings/chart-text.ts"
import { describeFigures, formatFigure, isMirrored, type Range, toPercent } from "./chart-figures.ts"

/** The height of the drawing, in CSS pixels. */
const PLOT_PX = 150

interface LineChartProps {
  readonly chart: ChartPayload
}

export function LineChart({ chart }: LineChartProps): VNode {
  const { unit, data } = chart
  const active: Signal<number> = useSignal(data.length - 1)
  const range = findRange(chart)
  const points = data.map(({ value }, at) => locatePoint(value, at, data.length, range))
  const shown = Math.min(active.value, data.length - 1)
  const [point, place] = [data[shown], points[shown]]
  if (point === undefined || place === undefined) throw new Error("A chart has at least one point.")
  const moveTo = (at: number): void => {
    active.value = Math.max(0, Math.min(data.length - 1, at))
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for the fields of a form.
    <div
      class="line"
      role="group"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys move along the line.
      tabIndex={0}
      aria-label={chartText.moveAlong}
      onKeyDown={(event) => handleKey(event, shown, data.length, moveTo)}
    >
      <p class="point" aria-live="polite">
        <span dir="auto">{point.label}</span> <b>{formatFigure(point.value, unit)}</b>
      </p>
      <svg class="plot" height={PLOT_PX} role="img" aria-label={describeFigures(chart)}>
        <line class="grid" x1="0" x2="100%" y1="100%" y2="100%" />
        <svg
          aria-hidden="true"
          viewBox="0 0 100 100"
          width="100%"
          height="100%"
          preserveAspectRatio="none"
          overflow="visible"
        >
          <polyline class="course" points={points.map(({ x, y }) => `${x},${y}`).join(" ")} />
        </svg>
        <line class="grid" x1={`${place.x}%`} x2={`${place.x}%`} y1="0" y2="100%" />
        <circle class="dot" cx={`${place.x}%`} cy={`${place.y}%`} r="4.5" />
        {points.map(({ x }, at) => (
          <rect
            key={at}
            class="band"
            x={`${x - 50 / points.length}%`}
            width={`${100 / points.length}%`}
            height="100%"
            onPointerEnter={() => moveTo(at)}
          />
        ))}
      </svg>
      <p class="ends" aria-hidden="true">
        <span dir="auto">{data[0]?.label}</span>
        <span dir="auto">{data.at(-1)?.label}</span>
      </p>
    </div>
  )
}

function handleKey(event: KeyboardEvent, at: number, count: number, moveTo: (at: number) => void): void {
  const forward = isMirrored() ? "ArrowLeft" : "ArrowRight"
  const backward = isMirrored() ? "ArrowRight" : "ArrowLeft"
  if (event.key === forward) moveTo(at + 1)
  else if (event.key === backward) moveTo(at - 1)
  else if (event.key === "Home") moveTo(0)
  else if (event.key === "End") moveTo(count - 1)
  else return
  event.preventDefault()
}

/** Returns the range of the values, with some space above and below. It is never empty. */
function findRange({ data }: ChartPayload): Range {
  const values = data.map(({ value }) => value)
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const space = low === high ? Math.max(Math.abs(low) / 10, 1) : (high - low) / 10
  return { low: low - space, high: high + space }
}

/** Returns a point's position, as percentages of the width (from the left) and of the height (from the top). */
function locatePoint(
  value: number,
  at: number,
  count: number,
  range: Range,
): { readonly x: number; readonly y: number } {
  const x = (at / (count - 1)) * 100
  return { x: isMirrored() ? 100 - x : x, y: 100 - toPercent(value, range) }
}
