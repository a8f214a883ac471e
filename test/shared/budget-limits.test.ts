/** budget-limits.test.ts: tests which limits are accepted, and which of several limits is the strictest. */

import fc from "fast-check"
import * as v from "valibot"
import { expect, test } from "vitest"
import { budgetChangeSchema, budgetLimitsSchema } from "../../shared/usage/budget-change.ts"
import {
  BUDGET_NAMES,
  type BudgetLimits,
  findStrictest,
  listMeteredLimits,
  MAX_BUDGET,
  MAX_USER_BUDGETS,
} from "../../shared/usage/budget-limits.ts"
import { assertProperty } from "../support/seeded.ts"

const limits: fc.Arbitrary<BudgetLimits> = fc.record(
  Object.fromEntries(BUDGET_NAMES.map((name) => [name, fc.integer({ min: 0, max: 1_000 })])),
  { requiredKeys: [] },
)

test.each([
  -1,
  0.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  1e18,
  MAX_BUDGET + 1,
  Number.MAX_SAFE_INTEGER + 1,
  "5",
  null,
  [5],
  { valueOf: 5 },
])("[BU19] %s is not a valid limit", (value) => {
  for (const name of BUDGET_NAMES) expect(v.is(budgetLimitsSchema, { [name]: value })).toBe(false)
})

test("[BU19] 0 and the largest limit are valid limits, and a misspelt budget is refused", () => {
  for (const name of BUDGET_NAMES) {
    expect(v.is(budgetLimitsSchema, { [name]: 0 })).toBe(true)
    expect(v.is(budgetLimitsSchema, { [name]: MAX_BUDGET })).toBe(true)
  }
  expect(v.is(budgetLimitsSchema, { tokens_a_day: 5 })).toBe(false)
})

test("[BU2] [BU19] a change names the tenant, roles and users, and at most MAX_USER_BUDGETS of them", () => {
  const users = Object.fromEntries(Array.from({ length: MAX_USER_BUDGETS }, (_, i) => [`user-${i}`, { sessions: i }]))
  const accepted = [
    {},
    { tenant: null },
    { tenant: { tokens_per_day: 5 }, roles: { member: { sessions: 3 } }, users: { ada: null } },
    { users },
  ]
  const refused = [
    "tenant",
    { tenants: {} },
    { roles: { king: {} } },
    { users: { "a b": {} } },
    { users: { ...users, more: {} } },
  ]
  expect(accepted.map((change) => v.is(budgetChangeSchema, change))).toEqual(accepted.map(() => true))
  expect(refused.map((change) => v.is(budgetChangeSchema, change))).toEqual(refused.map(() => false))
})

test("[BU4] the strictest limit applies; of equal limits, the one with the narrowest scope", () => {
  assertProperty(
    fc.property(limits, limits, limits, fc.constantFrom(...BUDGET_NAMES), (tenant, role, user, budget) => {
      const set = [user[budget], role[budget], tenant[budget]].filter((limit) => limit !== undefined)
      const strictest = findStrictest({ tenant, role, user }, budget)
      expect(strictest?.limit).toBe(set.length === 0 ? undefined : Math.min(...set))
      if (strictest !== null && strictest.limit === user[budget]) expect(strictest.scope).toBe("user")
    }),
  )
})

test("[BU4] the tenant's limit is shared, so it applies in addition to the stricter of the role's and the user's limits", () => {
  const all = {
    tenant: { tokens_per_day: 5 },
    role: { tokens_per_day: 9 },
    user: { tokens_per_day: 7, cost_per_month: 0 },
  }
  expect(listMeteredLimits(all)).toEqual([
    { budget: "tokens_per_day", scope: "tenant", limit: 5 },
    { budget: "tokens_per_day", scope: "user", limit: 7 },
    { budget: "cost_per_month", scope: "user", limit: 0 },
  ])
})
