/** card-finder.ts: finds the tenant's card for a result. The code that does it is loaded when it is needed. */

import type { Json } from "../../../shared/json.ts"
import type { Env } from "../../env.ts"

/** Finds the version of the card that shows a tool's result. */
export function createCardFinder(env: Env, tenant: string) {
  return async (tool: string, data: { readonly [key: string]: Json }): Promise<string | null> => {
    const { findTenantCard } = await import("./tenant-card.ts")
    return await findTenantCard(env, tenant, tool, data)
  }
}
