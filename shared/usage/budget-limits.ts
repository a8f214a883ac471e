/**
 * budget-limits.ts: defines the budgets that a tenant sets, and selects the ones that apply to a user. Pure.
 *
 * All users of a tenant share the tenant's limits. A role's limits apply separately to each user with that role, and a
 * user's limits to that user. A turn must be within all of these limits.
 */

import type { BudgetName, BudgetScope } from "../fault.ts"
import type { PeriodKind } from "./period.ts"

/** Budgets that are counted over a day or a month. `tokens`: input and output. `cost`: nano-dollars (1e-9 USD). */
export const METERED_BUDGETS = {
  tokens_per_day: { unit: "tokens", period: "day" },
  tokens_per_month: { unit: "tokens", period: "month" },
  cost_per_day: { unit: "cost", period: "day" },
  cost_per_month: { unit: "cost", period: "month" },
} as const satisfies Partial<Record<BudgetName, { readonly unit: "tokens" | "cost"; readonly period: PeriodKind }>>

export type MeteredBudget = keyof typeof METERED_BUDGETS

/** Budgets that limit how much exists at the same time. Ending or deleting something frees its share. */
export const HELD_BUDGETS = ["concurrent_turns", "sessions", "stored_bytes"] as const satisfies readonly BudgetName[]
export type HeldBudget = (typeof HELD_BUDGETS)[number]

export const METERED_BUDGET_NAMES = Object.keys(METERED_BUDGETS) as readonly MeteredBudget[]
export const BUDGET_NAMES: readonly BudgetName[] = [...METERED_BUDGET_NAMES, ...HELD_BUDGETS]

/**
 * The largest limit that can be set. The sum of two such limits is still a safe integer. As a cost, it is 4 million
 * dollars, so a larger number must be a mistake in the unit.
 */
export const MAX_BUDGET = 4_000_000_000_000_000

/** Maximum number of users with budgets of their own. They are all read at once, and fit into one request body. */
export const MAX_USER_BUDGETS = 1_000

export type BudgetLimits = { readonly [B in BudgetName]?: number | undefined }

/** The body of `GET /v1/budgets`. Only subjects with a limit are listed. */
export interface BudgetTable {
  readonly tenant: BudgetLimits
  readonly roles: Readonly<Record<string, BudgetLimits>>
  readonly users: Readonly<Record<string, BudgetLimits>>
}

/** The limits that apply to one user. */
export interface UserLimits {
  readonly tenant: BudgetLimits
  readonly role: BudgetLimits
  readonly user: BudgetLimits
}

/** One limit, and its scope. */
export interface BudgetLimit<B extends BudgetName = BudgetName> {
  readonly budget: B
  readonly scope: BudgetScope
  readonly limit: number
}

export function isEmptyLimits(limits: BudgetLimits): boolean {
  return BUDGET_NAMES.every((budget) => limits[budget] === undefined)
}

/**
 * Returns the strictest limit of a budget among the given scopes; null if none of them limits the budget. If two limits
 * are equal, the one with the narrower scope wins.
 */
export function findStrictest<B extends BudgetName>(
  limits: Partial<UserLimits>,
  budget: B,
  scopes: readonly BudgetScope[] = ["user", "role", "tenant"],
): BudgetLimit<B> | null {
  const found = scopes.flatMap((scope) => {
    const limit = limits[scope]?.[budget]
    return limit === undefined ? [] : [{ budget, scope, limit }]
  })
  const [first, ...others] = found
  return first === undefined ? null : others.reduce((best, next) => (next.limit < best.limit ? next : best), first)
}

/**
 * Returns the metered limits that apply to a user: the tenant's limits, which all users share, and for each budget the
 * stricter of the role's and the user's limit, which applies to this user alone.
 */
export function listMeteredLimits(limits: UserLimits): BudgetLimit<MeteredBudget>[] {
  return METERED_BUDGET_NAMES.flatMap((budget) =>
    [findStrictest(limits, budget, ["tenant"]), findStrictest(limits, budget, ["user", "role"])].filter(
      (limit) => limit !== null,
    ),
  )
}
