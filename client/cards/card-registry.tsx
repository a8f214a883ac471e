/**
 * card-registry.tsx: chooses the card for a tool's payload. A result without a card shows its synthesis as text.
 *
 * To add a card, write a parser in shared/card/ and a module in this folder, and add the module to CARD_MODULES. SPEC
 * CA3.
 */

import type { ReadonlySignal } from "@preact/signals"
import type { VNode } from "preact"
import type { Json } from "../../shared/json.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import type { MessageExtras, OutboxEntry } from "../net/outbox.ts"
import { Markdown } from "../markdown/markdown.tsx"
import { type DeferredModule, deferModule } from "../ui/deferred-module.ts"

export interface CardContent {
  readonly payload: Json
  /** The model's text about the payload, in Markdown. */
  readonly synthesis: string
  /** The version of the card that shows the payload. Absent if a built-in card of the page shows it. */
  readonly view?: string | undefined
  /** The call whose result the card shows, and what the card's buttons need. If absent, the buttons do nothing. */
  readonly callId?: string | undefined
  readonly host?: CardActionHost | null
  /** Whether the card arrived while the page was open. Only such cards are animated. */
  readonly isFresh: boolean
}

/** What the buttons of a card need from the conversation. */
export interface CardActionHost {
  readonly isReadOnly: ReadonlySignal<boolean>
  readonly store: {
    readonly messageIds: ReadonlySignal<readonly string[]>
    getMessageSignal(id: string): ReadonlySignal<WireMessage> | undefined
  }
  readonly outbox?: { readonly entries: ReadonlySignal<readonly OutboxEntry[]> }
  sendMessage?(content: string, extras?: MessageExtras): void
}

/** The code for a card. */
interface CardModule {
  /** Parses and renders the payload. Returns null if the payload isn't valid. `text` is the rendered synthesis. */
  renderCard(content: CardContent, text: VNode | null): VNode | null
}

/** The built-in cards by tool name. A card's code is loaded on first use. Until then, a frame shows the card's text. */
const CARD_MODULES: ReadonlyMap<string, DeferredModule<CardModule>> = new Map([
  ["weather", deferModule<CardModule>(() => import("./weather-card.tsx"))],
  ["chart", deferModule<CardModule>(() => import("./chart/chart-card.tsx"))],
])

/** Draws the cards that tenants define. */
const TENANT_CARDS = deferModule<CardModule>(() => import("./view/view-card.tsx"))

/** Returns the tool name in a tag: `web_search_1` → `web_search`. */
export function tagToToolName(tag: string): string {
  return tag.replace(/_\d+$/, "")
}

/** Renders a card. Returns null if the tool has no card, or if the payload isn't valid. */
export function renderCard(tag: string, content: CardContent): VNode | null {
  const card = content.view === undefined ? CARD_MODULES.get(tagToToolName(tag)) : TENANT_CARDS
  if (card === undefined) return null
  const text = content.synthesis === "" ? null : <Markdown text={content.synthesis} />
  if (card.module.value !== null) return card.module.value.renderCard(content, text)
  void card.load()
  return <div class="card loading">{text}</div>
}

/** Loads the code for all cards. */
export async function loadCards(): Promise<void> {
  await Promise.all([...CARD_MODULES.values(), TENANT_CARDS].map((card) => card.load()))
}
