/** fill-rows.ts: fills tables and charts from an array in the tool's result. Pure. SPEC CV6. */

import { isJsonObject, type Json } from "../../json.ts"
import { cutText } from "../../text/cut-text.ts"
import { MAX_CHART_LABEL_CHARS, MAX_CHART_POINTS, MAX_CHART_TITLE_CHARS, MAX_CHART_UNIT_CHARS } from "../card-limits.ts"
import { parseChartPayload } from "../chart-payload.ts"
import { MAX_VIEW_ROWS } from "../../protocol/cards/card-bounds.ts"
import type { ViewComponent } from "./card-template.ts"
import { formatDynamic, type Runs, readValue, type ViewScope } from "./format-value.ts"
import type { TableColumn, ViewNode } from "./view-node.ts"

/** A wider table can't be read in a conversation. */
export const MAX_COLUMNS = 12

function readRows(component: ViewComponent, scope: ViewScope): readonly Json[] | null {
  const rows = readValue(component["rows"], scope)
  return Array.isArray(rows) && rows.length > 0 ? rows : null
}

/**
 * Returns the first items that fit into the card, and subtracts their cells from `left.nodes`. `cells`: the number of
 * cells per item.
 */
function takeItems(items: readonly Json[], max: number, cells: number, { left }: ViewScope): readonly Json[] {
  const count = Math.max(0, Math.min(items.length, max, Math.floor(left.nodes / Math.max(1, cells))))
  left.nodes -= count * cells
  return items.slice(0, count)
}

export function fillTable(component: ViewComponent, scope: ViewScope): ViewNode | null {
  const items = readRows(component, scope)
  const columns = component["columns"]
  if (items === null || !Array.isArray(columns)) return null
  const known = columns.slice(0, MAX_COLUMNS).filter(isJsonObject) as readonly { readonly [field: string]: Json }[]
  const heads = known.map(
    ({ title, align }): TableColumn => ({ title: String(title), align: align === "end" ? "end" : "start" }),
  )
  const shown = takeItems(items, MAX_VIEW_ROWS, known.length, scope)
  const rows = shown.map((item) => known.map(({ value }): Runs => formatDynamic(value, { ...scope, item }) ?? []))
  return { type: "table", columns: heads, rows, omitted: items.length - rows.length }
}

/** Returns a chart of the rows. Items without a number are left out. */
export function fillChart(component: ViewComponent, scope: ViewScope): ViewNode | null {
  const items = readRows(component, scope)
  if (items === null) return null
  const shown = takeItems(items, MAX_CHART_POINTS, 1, scope)
  const data = shown.flatMap((item) => {
    const inner = { ...scope, item }
    const value = readValue(component["value"], inner)
    if (typeof value !== "number") return []
    return [{ label: cut(formatDynamic(component["label"], inner)?.join("") ?? "", MAX_CHART_LABEL_CHARS), value }]
  })
  const title = cut(formatDynamic(component["title"], scope)?.join("") ?? "", MAX_CHART_TITLE_CHARS)
  const unit = cut(formatDynamic(component["unit"], scope)?.join("") ?? "", MAX_CHART_UNIT_CHARS)
  const chart = parseChartPayload({ title, kind: component["kind"] === "line" ? "line" : "bar", unit, data })
  return chart === null ? null : { type: "chart", chart, omitted: items.length - shown.length }
}

function cut(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${cutText(text, maxChars - 1)}…`
}
