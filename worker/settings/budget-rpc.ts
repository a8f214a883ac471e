/** budget-rpc.ts: the tenant object's calls for budgets. */

import type { Result } from "../../shared/fault.ts"
import type { BudgetChange } from "../../shared/usage/budget-change.ts"
import type { BudgetTable } from "../../shared/usage/budget-limits.ts"
import type { TenantGrant } from "../../shared/usage/user-account.ts"
import type { Administrator } from "../platform/rpc/actor.ts"

export interface BudgetRpc {
  /** Returns all budgets that are set. */
  listBudgets(): BudgetTable
  /**
   * Replaces the limits of the subjects that the change names. Returns all budgets. Errors: `field_invalid` if more
   * than MAX_USER_BUDGETS users would have limits; `scope_denied` for a role above the administrator's, or a user with
   * such a role; `tenant_erased`.
   */
  changeBudgets(by: Administrator, change: BudgetChange): Result<BudgetTable>
  /** Returns the budgets that a user's directory needs; null if the tenant has none. Stores nothing. */
  getBudgetGrant(user: string): TenantGrant | null
}
