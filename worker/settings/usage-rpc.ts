/** usage-rpc.ts: the tenant object's calls for usage and prices. */

import type { Result } from "../../shared/fault.ts"
import type { PriceEntry } from "../../shared/usage/price-entry.ts"
import type { UsagePage, UsageQuery } from "../../shared/usage/usage-page.ts"
import type { UsageReport } from "../../shared/usage/usage-report.ts"
import type { TenantGrant } from "../../shared/usage/user-account.ts"
import type { Actor } from "../platform/rpc/actor.ts"

export interface UsageRpc {
  /**
   * Adds a batch from a user's directory. Repeating the call has no effect. Returns the new result of `getBudgetGrant`.
   */
  addUsage(user: string, batch: UsageReport): TenantGrant | null
  /** Returns one page of the totals for a range of days, and the total of the whole range. */
  readUsage(query: UsageQuery): UsagePage
  /** Returns the tenant's own prices. */
  listPrices(): readonly PriceEntry[]
  /**
   * Replaces the tenant's own prices. They apply to later calls. Errors: `tenant_erased`; `prices_changed` if
   * `revision` is not the revision of the current prices.
   */
  setPrices(actor: Actor, prices: readonly PriceEntry[], revision?: string): Result<readonly PriceEntry[]>
}
