/** card-markdown.ts: the data of a card as Markdown, for an export. Pure. */

import type { Json } from "../json.ts"
import { chartToMarkdown, parseChartPayload } from "./chart-payload.ts"

/** Returns null for a card whose data has no form of its own. SPEC CA12. */
export function cardToMarkdown(tag: string, payload: Json): string | null {
  const chart = /^chart_\d+$/.test(tag) ? parseChartPayload(payload) : null
  return chart === null ? null : chartToMarkdown(chart)
}
