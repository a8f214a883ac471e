/**
 * chart-payload.ts: the payload of a chart card, its type guard, and its conversion to a Markdown table.
 *
 * tool result → payload → GUARD → card
 * If a payload does not pass the guard, the page shows the card's text instead.
 */

import { isJsonObject, type Json } from "../json.ts"
import {
  CHART_KINDS,
  MAX_CHART_FIGURE,
  MAX_CHART_LABEL_CHARS,
  MAX_CHART_POINTS,
  MAX_CHART_TITLE_CHARS,
  MAX_CHART_UNIT_CHARS,
} from "./card-limits.ts"

export interface ChartPoint {
  readonly label: string
  readonly value: number
}

/** A chart, as the tool returns it. */
export interface ChartPayload {
  readonly title: string
  readonly kind: (typeof CHART_KINDS)[number]
  /** Shown after each value, for example "%" or "km". Empty if the values have no unit. */
  readonly unit: string
  /** Contains at least one point. */
  readonly data: readonly ChartPoint[]
}

/** Returns whether a value is a chart payload. Unknown fields are ignored. SPEC CA10. */
export function isChartPayload(value: unknown): value is ChartPayload {
  if (!isJsonObject(value)) return false
  const readOwn = (name: string): unknown => (Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined)
  const data = readOwn("data")
  return (
    isText(readOwn("title"), MAX_CHART_TITLE_CHARS) &&
    CHART_KINDS.some((kind) => kind === readOwn("kind")) &&
    isText(readOwn("unit"), MAX_CHART_UNIT_CHARS) &&
    Array.isArray(data) &&
    data.length > 0 &&
    data.length <= MAX_CHART_POINTS &&
    data.every(isChartPoint)
  )
}

function isChartPoint(value: unknown): value is ChartPoint {
  if (!isJsonObject(value) || !Object.hasOwn(value, "label") || !Object.hasOwn(value, "value")) return false
  const { label, value: figure } = value
  return isText(label, MAX_CHART_LABEL_CHARS) && Number.isFinite(figure) && Math.abs(Number(figure)) <= MAX_CHART_FIGURE
}

function isText(value: unknown, maxChars: number): value is string {
  return typeof value === "string" && value.length <= maxChars
}

/** Returns the value as a typed payload, or null. */
export function parseChartPayload(value: Json): ChartPayload | null {
  return isChartPayload(value) ? value : null
}

/** Returns the chart as a Markdown table. Labels are escaped, so they cannot break out of their cells. SPEC CA12. */
export function chartToMarkdown({ title, unit, data }: ChartPayload): string {
  const rows = data.map(({ label, value }) => `| ${escapeCell(label)} | ${value} |`)
  const head = `| ${escapeCell(title)} | ${escapeCell(unit)} |`
  return [head, "|---|---:|", ...rows].join("\n")
}

function escapeCell(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .trim()
    .replace(/[\\`*_{}[\]<>#|~!&]/g, "\\$&")
}
