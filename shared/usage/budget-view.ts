/** budget-view.ts: the body of `GET /v1/usage/me`: a user's view of the budgets that apply to them. Pure. */

import type { BudgetName, BudgetScope } from "../fault.ts"
import { findStrictest, HELD_BUDGETS, type HeldBudget } from "./budget-limits.ts"
import { findMeterReset, rollMeter } from "./budget-meter.ts"
import type { UserAccount } from "./user-account.ts"

export interface BudgetView {
  readonly budget: BudgetName
  readonly scope: BudgetScope
  readonly limit: number
  /**
   * The amount used, as far as the user's directory knows; for a tenant's budget, by all users. The amount can exceed
   * the limit.
   */
  readonly used: number
  readonly left: number
  /** Milliseconds since 1970; null for a budget that is freed when something ends or is deleted. */
  readonly resets: number | null
}

export interface UserBudgets {
  readonly budgets: readonly BudgetView[]
}

/** A user's counts for the held budgets. Null means unknown. */
export type HeldCounts = Readonly<Record<HeldBudget, number | null>>

/** Returns the budgets that apply to a user, metered ones first. Held budgets whose count is unknown are left out. */
export function listBudgetViews(account: UserAccount | null, held: HeldCounts, now: number): BudgetView[] {
  if (account === null) return []
  const metered = account.meters.map((meter): BudgetView => {
    const { budget, scope, limit, spent } = rollMeter(meter, now)
    return { budget, scope, limit, used: spent, left: Math.max(limit - spent, 0), resets: findMeterReset(meter, now) }
  })
  return [
    ...metered,
    ...HELD_BUDGETS.flatMap((name): BudgetView[] => {
      const strictest = findStrictest(account.limits, name)
      const used = held[name]
      if (strictest === null || used === null) return []
      return [{ ...strictest, used, left: Math.max(strictest.limit - used, 0), resets: null }]
    }),
  ]
}
