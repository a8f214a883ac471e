/** usage-chart.tsx: the chart of usage by day or month, as SVG, with a table that says the same. Source: SPEC MT12. */

import type { VNode } from "preact"
import { formatCompact, formatCost, formatCount, formatDay, usageText } from "../../words/usage-text.ts"
import { type Bar, chooseScale, type Measure } from "./usage-data.ts"

/** The size of the drawing, in its own units. It is scaled to the width of the page. */
const WIDTH = 720
const HEIGHT = 220
const LEFT = 56
const BOTTOM = 32
const TOP = 18
/** The part of a bar's place that it fills. */
const BAR_SHARE = 0.72
/** Labels that fit below the bars. */
const MAX_LABELS = 7

interface UsageChartProps {
  readonly bars: readonly Bar[]
  readonly measure: Measure
  /** For screen readers. */
  readonly label: string
}

export function UsageChart({ bars, measure, label }: UsageChartProps): VNode {
  const scale = chooseScale(Math.max(...bars.map(sumBar)))
  const top = scale.at(-1) ?? 1
  const y = (value: number): number => HEIGHT - BOTTOM - (value / top) * (HEIGHT - BOTTOM - TOP)
  return (
    <figure class="usage-chart">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${label}. ${summarize(bars, measure)}`}>
        {scale.map((value) => (
          <g key={value} class="grid">
            <line x1={LEFT} x2={WIDTH} y1={y(value)} y2={y(value)} />
            <text x={LEFT - 8} y={y(value) + 4} text-anchor="end">
              {measure === "cost" ? formatCost(value) : formatCompact(value)}
            </text>
          </g>
        ))}
        <Bars bars={bars} measure={measure} y={y} />
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

interface BarsProps extends Pick<UsageChartProps, "bars" | "measure"> {
  readonly y: (value: number) => number
}

function Bars({ bars, measure, y }: BarsProps): VNode {
  const place = (WIDTH - LEFT) / bars.length
  const labelEvery = Math.ceil(bars.length / MAX_LABELS)
  return (
    <>
      {bars.map((bar, i) => {
        const x = LEFT + i * place + (place * (1 - BAR_SHARE)) / 2
        const [first, second] = bar.values
        const width = place * BAR_SHARE
        return (
          <g key={bar.at}>
            <title>{`${formatDay(bar.at)}: ${formatBar(bar, measure)}`}</title>
            {/* The whole place, so that a low bar can be pointed at. */}
            <rect class="place" x={LEFT + i * place} y={TOP} width={place} height={HEIGHT - BOTTOM - TOP} />
            <rect class="input" x={x} y={y(first)} width={width} height={y(0) - y(first)} />
            <rect class="output" x={x} y={y(first + second)} width={width} height={y(first) - y(first + second)} />
            {i % labelEvery === 0 && (
              <text x={LEFT + (i + 0.5) * place} y={HEIGHT - 8} text-anchor="middle">
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

function summarize(bars: readonly Bar[], measure: Measure): string {
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
