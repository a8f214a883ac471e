/** card-markdown.ts: converts a card's data to Markdown, for exports. Pure. */

import type { Json } from "../json.ts"
import { chartToMarkdown, parseChartPayload } from "./chart-payload.ts"
import type { CardView } from "./view/card-template.ts"
import { fillView } from "./view/fill-view.ts"
import { ENGLISH } from "./view/format-value.ts"
import { viewToMarkdown } from "./view/view-markdown.ts"

/**
 * Returns a card as Markdown; null for a card whose data has no Markdown form. `view`: the template, for a tenant's
 * card. SPEC CA12, CV12.
 */
export function cardToMarkdown(tag: string, payload: Json, view: CardView | null = null): string | null {
  if (view !== null) {
    const filled = fillView(view, payload, ENGLISH)
    return filled === null ? null : viewToMarkdown(filled)
  }
  const chart = /^chart_\d+$/.test(tag) ? parseChartPayload(payload) : null
  return chart === null ? null : chartToMarkdown(chart)
}
