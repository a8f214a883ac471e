/** tenant-cards.ts: sets and removes a tenant's cards, and records who changed them. Source: SPEC CV9 to CV11. */

import { fail, type Result, succeed } from "../../../shared/fault.ts"
import type { Actor } from "../../platform/rpc/actor.ts"
import type { CardSummary, StoredCard } from "../../settings/cards/card-rpc.ts"
import type { TenantHost } from "../tenant-host.ts"
import { endCard, listCards, trimVersions, writeCard } from "./card-rows.ts"

export { listCards, listToolCards, readCard, readCardView } from "./card-rows.ts"

const MAX_CARDS = 100
/** Maximum number of stored versions per card. Messages refer to old versions. */
const MAX_VERSIONS = 20
/** Maximum total size of a tenant's card versions, in bytes. */
const MAX_CARD_STORE_BYTES = 8 * 1024 * 1024

/** Sets a card in one transaction. */
export function setCard(host: TenantHost, actor: Actor, card: StoredCard): Result<CardSummary> {
  try {
    return host.change(() => putCard(host, actor, card))
  } catch (error) {
    if (error instanceof FullStore) return fail({ reason: "cards_full", max: MAX_CARDS })
    throw error
  }
}

function putCard({ sql, audit }: TenantHost, actor: Actor, card: StoredCard): Result<CardSummary> {
  const { name, for: tool, revision } = card
  const others = listCards(sql).filter((other) => other.name !== name)
  const rival = others.find((other) => other.for === tool)
  if (rival !== undefined)
    return fail({ reason: "card_refused", pointer: "/for", problem: `already has the card "${rival.name}"` })
  if (others.length >= MAX_CARDS) return fail({ reason: "cards_full", max: MAX_CARDS })
  writeCard(sql, card)
  if (!trimVersions(sql, name, MAX_VERSIONS, MAX_CARD_STORE_BYTES)) {
    throw new FullStore()
  }
  audit.append(actor, { action: "card.changed", target: name, details: { for: tool, revision } }, Date.now())
  return succeed({ name, for: tool, revision })
}

/** Thrown to roll the transaction back. */
class FullStore extends Error {}

export function removeCard({ sql, audit }: TenantHost, actor: Actor, name: string): Result<null> {
  if (!listCards(sql).some((card) => card.name === name)) return fail({ reason: "card_unknown" })
  endCard(sql, name)
  audit.append(actor, { action: "card.removed", target: name }, Date.now())
  return succeed(null)
}
