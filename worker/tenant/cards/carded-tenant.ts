/** carded-tenant.ts: the calls of the tenant object that concern its cards. Source: SPEC CV9. */

import { type Result, fail } from "../../../shared/fault.ts"
import type { Actor } from "../../platform/rpc/actor.ts"
import type { CardRpc, CardSummary, StoredCard, ToolCard } from "../../settings/card-rpc.ts"
import { FeedbackCounter } from "../feedback/feedback-counter.ts"
import { listCards, listToolCards, readCard, readCardView } from "./card-rows.ts"
import { FullStore, fullStoreToFault, putCard, removeCard } from "./tenant-cards.ts"

export abstract class CardedTenant extends FeedbackCounter implements CardRpc {
  listCards(): CardSummary[] {
    return this.host.tables.exist() ? listCards(this.host.sql) : []
  }

  getCard(name: string): StoredCard | null {
    return this.host.tables.exist() ? readCard(this.host.sql, name) : null
  }

  putCard(actor: Actor, card: StoredCard): Result<CardSummary> {
    try {
      return this.host.change(() => putCard(this.host, actor, card))
    } catch (error) {
      if (error instanceof FullStore) return fullStoreToFault()
      throw error
    }
  }

  removeCard(actor: Actor, name: string): Result<null> {
    if (!this.host.tables.exist()) return fail({ reason: "card_unknown" })
    return this.host.change(() => removeCard(this.host, actor, name))
  }

  getCardView(name: string, revision: string): string | null {
    return this.host.tables.exist() ? readCardView(this.host.sql, name, revision) : null
  }

  listToolCards(): ToolCard[] {
    return this.host.tables.exist() ? listToolCards(this.host.sql) : []
  }
}
