/**
 * card-registry.ts: chooses the card for a tool's payload. A result without a card shows its synthesis as text.
 *
 * To add a card, write a parser in shared/card/ and a module here, and add it to CARD_RENDERERS. SPEC CA3.
 */

import type { VNode } from "preact"
import type { Json } from "../../shared/json.ts"
import { renderWeatherCard } from "./weather-card.tsx"

export interface CardContent {
  readonly payload: Json
  /** The model's text about the payload, in Markdown. */
  readonly synthesis: string
  /** True if the card arrived while the page was open. Only such cards are animated. */
  readonly isFresh: boolean
}

/** Parses and renders the payload. Returns null if the payload isn't valid. */
export type RenderCard = (content: CardContent) => VNode | null

const CARD_RENDERERS: ReadonlyMap<string, RenderCard> = new Map([["weather", renderWeatherCard]])

/** `web_search_1` → `web_search` */
export function tagToToolName(tag: string): string {
  return tag.replace(/_\d+$/, "")
}

/** Returns null if the tool has no card, or if the payload isn't valid. */
export function renderCard(tag: string, content: CardContent): VNode | null {
  return CARD_RENDERERS.get(tagToToolName(tag))?.(content) ?? null
}
