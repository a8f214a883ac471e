/**
 * card-registry.ts: which card draws which tool's payload.
 *
 * tag → tool name → CARD, or null: then its synthesis is shown as text.
 * A new card is one module here, one guard in shared/card/, and one line below. Source: SPEC CA3.
 */

import type { VNode } from "preact"
import type { Json } from "../../shared/protocol/frame.ts"
import { drawWeather } from "./weather-card.tsx"

export interface RichContent {
  readonly payload: Json
  /** The model's words about it, Markdown. */
  readonly synthesis: string
  /** It arrived while the reader watched, and may enter. */
  readonly fresh: boolean
}

/** Guards the payload and draws it; null where it does not fit. */
export type DrawCard = (content: RichContent) => VNode | null

const CARDS: ReadonlyMap<string, DrawCard> = new Map([["weather", drawWeather]])

/** `web_search_1` is the tool `web_search`: only the ordinal goes. */
export function toolOf(tag: string): string {
  return tag.replace(/_\d+$/, "")
}

/** The card of a tag; null where there is none or its payload does not fit. */
export function drawCard(tag: string, content: RichContent): VNode | null {
  return CARDS.get(toolOf(tag))?.(content) ?? null
}
