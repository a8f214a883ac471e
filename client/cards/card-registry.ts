/**
 * card-registry.ts: which card draws which tool's payload.
 *
 * tag → tool name → CARD, or null: then its synthesis is shown as text.
 * A new card is one module here, one guard in shared/card/, and one line below. Source: SPEC CA3.
 */

import type { VNode } from "preact"
import type { Json } from "../../shared/json.ts"
import { renderWeatherCard } from "./weather-card.tsx"

export interface CardContent {
  readonly payload: Json
  /** The model's words about it, Markdown. */
  readonly synthesis: string
  /** It arrived while the reader watched, and may enter. */
  readonly isFresh: boolean
}

/** Guards the payload and draws it; null where it does not fit. */
export type RenderCard = (content: CardContent) => VNode | null

const CARD_RENDERERS: ReadonlyMap<string, RenderCard> = new Map([["weather", renderWeatherCard]])

/** `web_search_1` is the tool `web_search`: only the ordinal goes. */
export function tagToToolName(tag: string): string {
  return tag.replace(/_\d+$/, "")
}

/** The card of a tag; null where there is none or its payload does not fit. */
export function renderCard(tag: string, content: CardContent): VNode | null {
  return CARD_RENDERERS.get(tagToToolName(tag))?.(content) ?? null
}
