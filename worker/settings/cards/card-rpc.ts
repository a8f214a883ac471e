/** card-rpc.ts: the tenant object's methods for the tenant's cards. Pure. */

import type { Result } from "../../../shared/fault.ts"
import type { Actor } from "../../platform/rpc/actor.ts"

export interface CardSummary {
  readonly name: string
  /** The tool whose results the card shows. */
  readonly for: string
  /** The first 32 digits of a hash of the template. */
  readonly revision: string
}

/** A card with its current template, as JSON strings. */
export interface StoredCard extends CardSummary {
  /** `{title, view}`: what the page needs. */
  readonly view: string
  readonly schema: string
  readonly samples: string
}

/** What a session needs to decide whether a tool's result cues a card. */
export interface ToolCard {
  readonly tool: string
  /** `<name>@<revision>` */
  readonly view: string
  /** JSON text. */
  readonly schema: string
}

/** A card version in a tenant's archive. The samples are null for a version that isn't current. */
export type CardVersion = readonly [card: Omit<StoredCard, "samples">, samples: string | null]

export interface CardRpc {
  /** Lists the cards by name. */
  listCards(): Promise<CardSummary[]>
  getCard(name: string): Promise<StoredCard | null>
  /**
   * Adds or replaces a card. Errors: `tenant_erased`, `cards_full`, `card_refused` if another card is for the same
   * tool.
   */
  putCard(actor: Actor, card: StoredCard): Promise<Result<CardSummary>>
  /** Removes a card. Its versions are kept, because messages refer to them. Errors: `tenant_erased`, `card_unknown`. */
  removeCard(actor: Actor, name: string): Promise<Result<null>>
  /** Returns the JSON of `{title, view}` of a version; null if the version is no longer stored. Stores nothing. */
  getCardView(name: string, revision: string): Promise<string | null>
  /** Returns the cards that new results can cue. Stores nothing. */
  listToolCards(): Promise<ToolCard[]>
}
