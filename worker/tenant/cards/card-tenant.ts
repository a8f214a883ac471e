/**
 * card-tenant.ts: the tenant object's methods for the tenant's cards. Their code is loaded on demand. Source: SPEC
 * CV9.
 */

import { fail, type Result } from "../../../shared/fault.ts"
import type { Actor } from "../../platform/rpc/actor.ts"
import type { CardRpc, CardSummary, StoredCard, ToolCard } from "../../settings/cards/card-rpc.ts"
import { FeedbackCounter } from "../feedback/feedback-counter.ts"

const loadCards = () => import("./tenant-cards.ts")

/** Handles the calls about cards. A tenant without tables has no cards. */
export abstract class CardTenant extends FeedbackCounter implements CardRpc {
  async listCards(): Promise<CardSummary[]> {
    return this.host.tables.exist() ? (await loadCards()).listCards(this.host.sql) : []
  }

  async getCard(name: string): Promise<StoredCard | null> {
    return this.host.tables.exist() ? (await loadCards()).readCard(this.host.sql, name) : null
  }

  async putCard(actor: Actor, card: StoredCard): Promise<Result<CardSummary>> {
    return (await loadCards()).setCard(this.host, actor, card)
  }

  async removeCard(actor: Actor, name: string): Promise<Result<null>> {
    if (!this.host.tables.exist()) return fail({ reason: "card_unknown" })
    const { removeCard } = await loadCards()
    return this.host.change(() => removeCard(this.host, actor, name))
  }

  async getCardView(name: string, revision: string): Promise<string | null> {
    const own = this.host.tables.exist() ? (await loadCards()).readCardView(this.host.sql, name, revision) : null
    if (own !== null) return own
    const { readShippedView } = await import("../../tool/cards/shipped-cards.ts")
    return await readShippedView(name, revision)
  }

  async listToolCards(): Promise<ToolCard[]> {
    return this.host.tables.exist() ? (await loadCards()).listToolCards(this.host.sql) : []
  }
}
