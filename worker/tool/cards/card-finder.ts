/** card-finder.ts: the tenant's cards, as a session uses them. The code that checks results is loaded when it is needed. */

import type { Json } from "../../../shared/json.ts"
import type { ViewReference } from "../../../shared/protocol/cards/card-view-url.ts"
import type { Env } from "../../env.ts"
import { tenantStub } from "../../platform/rpc/object-stubs.ts"

/** Finds the version of the card that shows a tool's result. */
export function createCardFinder(env: Env, tenant: string) {
  return async (tool: string, data: { readonly [key: string]: Json }): Promise<string | null> => {
    const { findTenantCard } = await import("./tenant-card.ts")
    return await findTenantCard(env, tenant, tool, data)
  }
}

/** Reads the JSON of a version; null if it isn't kept. */
export function createViewReader(env: Env, tenant: string) {
  return async ({ name, revision }: ViewReference): Promise<string | null> =>
    await tenantStub(env, tenant).getCardView(name, revision)
}
