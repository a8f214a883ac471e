/** card-rpc.ts: the calls of the tenant object that concern the tenant's cards. Pure. */

import type { Result } from "../../../shared/fault.ts"
import type { Actor } from "../../platform/rpc/actor.ts"

export interface CardSummary {
  readonly name: string
  /** The tool whose results the card shows. */
  readonly for: string
  /** The first 32 digits of a hash of the template. */
  readonly revision: string
}

/** A card with its current template, as JSON texts. */
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
  /** A JSON text. */
  readonly schema: string
}

/** A version of a card in the archive of a tenant. The samples are null for a version that isn't current. */
export type CardVersion = readonly [card: Omit<StoredCard, "samples">, samples: string | null]

export interface CardRpc {
  /** In the order of their names. */
  listCards(): Promise<CardSummary[]>
  getCard(name: string): Promise<StoredCard | null>
  /** Errors: `tenant_erased`, `cards_full`, `card_refused` if another card is for the same tool. */
  putCard(actor: Actor, card: StoredCard): Promise<Result<CardSummary>>
  /** Its versions stay for the messages that they show. Errors: `tenant_erased`, `card_unknown`. */
  removeCard(actor: Actor, name: string): Promise<Result<null>>
  /** The JSON of `{title, view}` of a version; null if it isn't kept. Stores nothing. */
  getCardView(name: string, revision: string): Promise<string | null>
  /** The cards that new results can cue. Stores nothing. */
  listToolCards(): Promise<ToolCard[]>
}
