/**
 * tenant-card.ts: finds the tenant's card for a tool's result. Loaded on the first result that could have one.
 *
 * A change to a card takes effect within CARD_TRUST_MS. Source: SPEC CV10.
 */

import { checkValue } from "../../../shared/json-schema/match-schema.ts"
import { type Json, parseJson } from "../../../shared/json.ts"
import { MAX_CARD_BYTES } from "../../../shared/limits.ts"
import { countUtf8Bytes } from "../../../shared/truncate.ts"
import type { Env } from "../../env.ts"
import { FreshCache } from "../../platform/fresh-cache.ts"
import { tenantStub } from "../../platform/rpc/object-stubs.ts"
import type { ToolCard } from "../../settings/cards/card-rpc.ts"

/** How long an isolate relies on the list of cards, in milliseconds. */
const CARD_TRUST_MS = 1_000
const MAX_CACHED_TENANTS = 200

const cardsByTenant = new FreshCache<readonly ToolCard[]>(CARD_TRUST_MS, MAX_CACHED_TENANTS)

/**
 * Returns the version of the card that shows the result (`hits@<revision>`); null if the tool has no card, or if the
 * result doesn't match its schema or is too large for a card.
 */
export async function findTenantCard(
  env: Env,
  tenant: string,
  tool: string,
  data: { readonly [key: string]: Json },
): Promise<string | null> {
  const cards = await cardsByTenant.getOrFetch(tenant, Date.now(), () => tenantStub(env, tenant).listToolCards())
  const card = cards.find((toolCard) => toolCard.tool === tool)
  if (card === undefined || countUtf8Bytes(JSON.stringify(data)) > MAX_CARD_BYTES) return null
  // `checkTemplate` accepted this schema.
  const schema = parseJson(card.schema) as { readonly [keyword: string]: Json }
  return checkValue(schema, data) === null ? card.view : null
}
