/**
 * chart-card.tsx: a chart of the values in a payload, and the same values as a table.
 *
 * Loaded on first use. The drawing has a single text alternative for screen readers; the table is visible to everyone.
 * SPEC CA10, CA11.
 */

import type { VNode } from "preact"
import { type ChartPayload, parseChartPayload } from "../../../shared/card/chart-payload.ts"
import { chartText } from "../../words/settings/chart-text.ts"
import { useEntrance } from "../card-motion.ts"
import type { CardContent } from "../card-registry.tsx"
import { BarChart } from "./bar-chart.tsx"
import { formatFigure } from "./chart-figures.ts"
import { LineChart } from "./line-chart.tsx"

export function renderCard({ payload, isFresh }: CardContent, text: VNode | null): VNode | null {
  const chart = parseChartPayload(payload)
  return chart === null ? null : <ChartCard chart={chart} text={text} isFresh={isFresh} />
}

interface ChartCardProps {
  readonly chart: ChartPayload
  readonly text: VNode | null
  readonly isFresh: boolean
}

function ChartCard({ chart, text, isFresh }: ChartCardProps): VNode {
  const ref = useEntrance(isFresh)
  return (
    <section class="card chart" ref={ref} aria-label={chartText.chartOf(chart.title)}>
      <header>
        <p class="place" dir="auto">
          {chart.title}
        </p>
      </header>
      {/* A line needs at least two points. */}
      {chart.kind === "line" && chart.data.length > 1 ? <LineChart chart={chart} /> : <BarChart chart={chart} />}
      <details>
        <summary>{chartText.showTable}</summary>
        <ChartTable chart={chart} />
      </details>
      {text !== null && <div class="synthesis">{text}</div>}
    </section>
  )
}

function ChartTable({ chart: { title, unit, data } }: Pick<ChartCardProps, "chart">): VNode {
  return (
    <table>
      <caption class="visually-hidden">{title}</caption>
      <thead>
        <tr>
          <th scope="col">{chartText.label}</th>
          <th scope="col">{chartText.value}</th>
        </tr>
      </thead>
      <tbody>
        {data.map(({ label, value }, at) => (
          <tr key={at}>
            <th scope="row" dir="auto">
              {label}
            </th>
            <td>{formatFigure(value, unit)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
