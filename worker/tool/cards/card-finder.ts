/** card-finder.ts: finds the card for a result. The lookups themselves are loaded on demand. */

import type { Json } from "../../../shared/json.ts"
import type { ViewReference } from "../../../shared/protocol/cards/card-view-url.ts"
import type { Env } from "../../env.ts"
import { tenantStub } from "../../platform/rpc/object-stubs.ts"
import type { ShippedCard } from "./shipped-cards.ts"

/**
 * Creates a function that finds the version of the card that shows a tool's result: the tenant's own card, or else the
 * shipped one. The function returns null if there is none.
 */
export function createCardFinder(env: Env, tenant: string) {
  return async (
    tool: string,
    data: { readonly [key: string]: Json },
    shipped?: ShippedCard,
  ): Promise<string | null> => {
    const { findTenantCard } = await import("./tenant-card.ts")
    const own = await findTenantCard(env, tenant, tool, data)
    if (own !== null || shipped === undefined) return own
    const { findShippedCard } = await import("./shipped-cards.ts")
    return await findShippedCard(shipped, data)
  }
}

/**
 * Creates a function that reads the stored template of a card version (`{title, view, actions?}`), as JSON text. The
 * function returns null if the version is no longer stored.
 */
export function createCardLoader(env: Env, tenant: string) {
  return async ({ name, revision }: ViewReference): Promise<string | null> =>
    await tenantStub(env, tenant).getCardView(name, revision)
}
