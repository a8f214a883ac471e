/** budget-simulation.test.ts: simulates 500 sessions of 20 turns under budgets and kills. */

import fc from "fast-check"
import { expect, test } from "vitest"
import { RENEW_TURNS } from "../../shared/usage/user-account.ts"
import { assertProperty } from "../support/seeded.ts"
import { BudgetSimulation, type Outcome, type Plan } from "./budget-simulation.ts"

function expectBounded(outcome: Outcome, { limits, users }: Plan): void {
  const { user, tenant } = limits
  expect([outcome.counted, outcome.tenantCounted]).toEqual([outcome.spent, outcome.spent])
  for (const excess of outcome.users) {
    expect(excess.spent).toBeLessThanOrEqual((user.tokens_per_day ?? Infinity) + excess.leased)
    expect(excess.unleased).toBe(0)
  }
  expect(outcome.tenant.spent).toBeLessThanOrEqual((tenant.tokens_per_day ?? Infinity) + outcome.tenant.leased)
  expect(outcome.tenant.unleased).toBe(0)
  // This bound is exact. A directory asks when RENEW_TURNS turns have been counted since the last response. It asks
  // twice without a response in between only if it was killed while it was waiting. In addition, each user's directory
  // asks on first contact and at the end of the simulation.
  const others = 2 * users + outcome.lostRenewals
  expect(outcome.tenantCalls).toBeLessThanOrEqual(Math.floor(outcome.turns / RENEW_TURNS) + others)
}

test("[BU8] [BU9] [BU24] 500 sessions × 20 turns under budgets and kills: usage stays within budget + leases, and the ledgers match the turns", () => {
  const plan: Plan = {
    seed: 1,
    users: 25,
    sessionsPerUser: 20,
    turnsPerSession: 20,
    limits: { tenant: { tokens_per_day: 5_000_000 }, role: {}, user: { tokens_per_day: 250_000 } },
    maxTurnTokens: 2_000,
    kills: 5,
  }
  const outcome = new BudgetSimulation(plan).run()
  expectBounded(outcome, plan)
  expect(outcome.turns + outcome.refused).toBe(10_000)
  expect(outcome.refused).toBeGreaterThan(1_000)
})

test("[BU8] [BU9] [BU24] the bound holds for any budgets, sizes and kills", () => {
  const plans: fc.Arbitrary<Plan> = fc.record({
    seed: fc.integer(),
    users: fc.integer({ min: 1, max: 6 }),
    sessionsPerUser: fc.integer({ min: 1, max: 8 }),
    turnsPerSession: fc.integer({ min: 1, max: 12 }),
    limits: fc.record({
      tenant: fc.record({ tokens_per_day: fc.integer({ min: 0, max: 200_000 }) }, { requiredKeys: [] }),
      role: fc.constant({}),
      user: fc.record({ tokens_per_day: fc.integer({ min: 0, max: 50_000 }) }),
    }),
    maxTurnTokens: fc.integer({ min: 1, max: 20_000 }),
    kills: fc.integer({ min: 0, max: 30 }),
  })
  assertProperty(
    fc.property(plans, (plan) => expectBounded(new BudgetSimulation(plan).run(), plan)),
    2_000,
  )
})

test("[BU9] without kills, a user with 20 sessions exceeds the budget by at most four turns", () => {
  const plan: Plan = {
    seed: 7,
    users: 25,
    sessionsPerUser: 20,
    turnsPerSession: 20,
    limits: { tenant: {}, role: {}, user: { tokens_per_day: 100_000 } },
    maxTurnTokens: 2_000,
    kills: 0,
  }
  const { users } = new BudgetSimulation(plan).run()
  expect(Math.max(...users.map(({ spent }) => spent - 100_000))).toBeLessThanOrEqual(4 * plan.maxTurnTokens)
})
