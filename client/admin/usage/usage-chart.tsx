/** usage-chart.tsx: the chart of usage by day or month, as SVG, with a table of the same values. Source: SPEC MT12. */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect } from "preact/hooks"
import { formatCompact, formatCost, formatCount, formatDay, usageText } from "../../words/usage-text.ts"
import { type Bar, chooseScale, type Measure } from "./usage-data.ts"

/** The width of the drawing, in SVG units. The drawing is scaled to the width of the page, by a factor of about 1. */
const WIDTH = 720
const NARROW_WIDTH = 360
const HEIGHT = 220
/** The width of the widest digit on the axis. */
const DIGIT_WIDTH = 7.5
/** The space between the axis labels and the bars. */
const GAP = 8
const BOTTOM = 32
const TOP = 18
/** The fraction of its slot's width that a bar fills. */
const BAR_SHARE = 0.72
/** The width of a label below the bars. */
const LABEL_WIDTH = 90
const NARROW_SCREEN = "(width <= 40rem)"

interface UsageChartProps {
  readonly bars: readonly Bar[]
  readonly measure: Measure
  /** The chart's name for screen readers. */
  readonly label: string
}

export function UsageChart({ bars, measure, label }: UsageChartProps): VNode {
  const scale = chooseScale(Math.max(...bars.map(sumBar)))
  // The only line is at 0 if nothing was used or everything was free.
  const top = scale.at(-1) || 1
  const width = useIsNarrow() ? NARROW_WIDTH : WIDTH
  const labels = scale.map((value) => (measure === "cost" ? formatCost(value) : formatCompact(value)))
  const left = Math.max(...labels.map(({ length }) => length)) * DIGIT_WIDTH + GAP
  const toY = (value: number): number => HEIGHT - BOTTOM - (value / top) * (HEIGHT - BOTTOM - TOP)
  return (
    <figure class="usage-chart">
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={`${label}. ${describeBars(bars, measure)}`}>
        {scale.map((value, i) => (
          <g key={value} class="grid">
            <line x1={left} x2={width} y1={toY(value)} y2={toY(value)} />
            <text x={left - GAP} y={toY(value) + 4} text-anchor="end">
              {labels[i]}
            </text>
          </g>
        ))}
        <Bars bars={bars} measure={measure} left={left} right={width} y={toY} />
      </svg>
      {measure === "tokens" && (
        <figcaption>
          <span class="key-input">{usageText.input}</span> <span class="key-output">{usageText.output}</span>
        </figcaption>
      )}
      <BarTable bars={bars} measure={measure} />
    </figure>
  )
}

function useIsNarrow(): boolean {
  const isNarrow = useSignal(matchMedia(NARROW_SCREEN).matches)
  useEffect(() => {
    const query = matchMedia(NARROW_SCREEN)
    const updateWidth = (): void => {
      isNarrow.value = query.matches
    }
    query.addEventListener("change", updateWidth)
    return () => query.removeEventListener("change", updateWidth)
  }, [])
  return isNarrow.value
}

interface BarsProps extends Pick<UsageChartProps, "bars" | "measure"> {
  readonly left: number
  readonly right: number
  readonly y: (value: number) => number
}

function Bars({ bars, measure, left, right, y }: BarsProps): VNode {
  const place = (right - left) / bars.length
  const labelEvery = Math.ceil(LABEL_WIDTH / place)
  return (
    <>
      {bars.map((bar, i) => {
        const x = left + i * place + (place * (1 - BAR_SHARE)) / 2
        const [first, second] = bar.values
        const width = place * BAR_SHARE
        return (
          <g key={bar.at}>
            <title>{`${formatDay(bar.at)}: ${formatBar(bar, measure)}`}</title>
            {/* As tall as the chart, so that even a short bar is easy to point at. */}
            <rect class="place" x={left + i * place} y={TOP} width={place} height={HEIGHT - BOTTOM - TOP} />
            <rect class="input" x={x} y={y(first)} width={width} height={y(0) - y(first)} />
            <rect class="output" x={x} y={y(first + second)} width={width} height={y(first) - y(first + second)} />
            {i % labelEvery === 0 && (
              <text x={left + (i + 0.5) * place} y={HEIGHT - 8} text-anchor="middle">
                {formatDay(bar.at)}
              </text>
            )}
          </g>
        )
      })}
    </>
  )
}

function BarTable({ bars, measure }: Pick<UsageChartProps, "bars" | "measure">): VNode {
  return (
    <details>
      <summary>{usageText.asTable}</summary>
      <table class="usage-table">
        <thead>
          <tr>
            <th scope="col">{bars[0]?.at.length === 7 ? usageText.month : usageText.day}</th>
            <th scope="col">{usageText.measures[measure]}</th>
          </tr>
        </thead>
        <tbody>
          {bars.map((bar) => (
            <tr key={bar.at}>
              <th scope="row">{formatDay(bar.at)}</th>
              <td>{formatBar(bar, measure)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  )
}

function sumBar({ values }: Bar): number {
  return values[0] + values[1]
}

function formatBar({ values: [first, second], unpricedCalls }: Bar, measure: Measure): string {
  if (measure === "calls") return formatCount(first)
  if (measure === "tokens")
    return `${formatCount(first)} ${usageText.input.toLowerCase()}, ${formatCount(second)} ${usageText.output.toLowerCase()}`
  if (unpricedCalls === 0) return formatCost(first)
  return first === 0 ? usageText.unpriced(unpricedCalls) : `${formatCost(first)} + ${usageText.unpriced(unpricedCalls)}`
}

function describeBars(bars: readonly Bar[], measure: Measure): string {
  const total = bars.reduce<Bar>(
    (sum, { values, unpricedCalls }) => ({
      at: "",
      values: [sum.values[0] + values[0], sum.values[1] + values[1]],
      unpricedCalls: sum.unpricedCalls + unpricedCalls,
    }),
    { at: "", values: [0, 0], unpricedCalls: 0 },
  )
  const [first, ...others] = bars
  if (first === undefined || sumBar(total) + total.unpricedCalls === 0) return usageText.none
  const highest = others.reduce((best, bar) => (sumBar(bar) > sumBar(best) ? bar : best), first)
  return usageText.summary(formatBar(total, measure), formatBar(highest, measure), formatDay(highest.at))
}
