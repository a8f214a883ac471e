/** budget-meter.test.ts: tests meters and a user's account. */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { METERED_BUDGETS, METERED_BUDGET_NAMES } from "../../shared/usage/budget-limits.ts"
import {
  addCounts,
  addToMeter,
  findExhausted,
  findMeterReset,
  type Meter,
  NO_SPENDING,
  readLeft,
} from "../../shared/usage/budget-meter.ts"
import { toPeriod } from "../../shared/usage/period.ts"
import {
  applyGrant,
  countTurn,
  decideTurn,
  leaseNextTurn,
  type PeriodSpending,
  type TenantGrant,
  type UserAccount,
} from "../../shared/usage/user-account.ts"
import { assertProperty } from "../support/seeded.ts"

const NOON = Date.UTC(2026, 10, 22, 12)
const DAY_MS = 24 * 60 * 60_000
const NOTHING: PeriodSpending = { day: NO_SPENDING, month: NO_SPENDING }

const createMeter = (budget: Meter["budget"], limit: number, spent = 0): Meter => ({
  budget,
  scope: "user",
  limit,
  spent,
  at: NOON,
})

const createAccount = (limits: TenantGrant["limits"]): UserAccount =>
  applyGrant(null, { limits, spent: NOTHING, at: NOON }, NOTHING, NOTHING)

describe("meters", () => {
  const step = fc.record({
    tokens: fc.nat({ max: 5_000 }),
    cost: fc.nat({ max: 5_000 }),
    later: fc.integer({ min: -2 * DAY_MS, max: 2 * DAY_MS }),
  })

  test("[BU1] a meter counts the usage in its period, and a clock that runs backwards resets nothing", () => {
    assertProperty(
      fc.property(fc.constantFrom(...METERED_BUDGET_NAMES), fc.array(step, { maxLength: 40 }), (budget, steps) => {
        const { unit, period } = METERED_BUDGETS[budget]
        let meter = createMeter(budget, 10_000)
        let [now, latest, spent] = [NOON, NOON, 0]
        for (const { later, ...use } of steps) {
          now += later
          if (now > latest && toPeriod(period, now) !== toPeriod(period, latest)) spent = 0
          latest = Math.max(latest, now)
          spent += use[unit]
          meter = addToMeter(meter, use, now)
          expect([meter.spent, meter.at]).toEqual([spent, latest])
          expect(readLeft(meter, now)).toBe(Math.max(10_000 - spent, 0))
          expect(findMeterReset(meter, now)).toBeGreaterThan(now)
        }
      }),
    )
  })

  test("[BU1] counts stay whole numbers from 0 to the largest safe one, whatever is added", () => {
    assertProperty(
      fc.property(fc.double(), fc.double(), (one, other) => {
        const sum = addCounts(one, other)
        expect(Number.isSafeInteger(sum) && sum >= 0).toBe(true)
        expect(sum).toBeGreaterThanOrEqual(addCounts(one, 0))
      }),
    )
  })

  test("[BU5] if several budgets are used up, the one that resets last is named", () => {
    const meters = [
      createMeter("tokens_per_day", 5, 5),
      createMeter("cost_per_month", 0),
      createMeter("cost_per_day", 9),
    ]
    expect(findExhausted(meters, NOON)).toEqual({
      budget: "cost_per_month",
      scope: "user",
      resets: Date.UTC(2026, 11, 1),
    })
    expect(findExhausted([createMeter("tokens_per_day", 5, 5)], NOON + DAY_MS)).toBe(null)
  })
})

describe("accounts", () => {
  const limits = { tenant: { tokens_per_month: 1_000 }, role: {}, user: { tokens_per_day: 100 } }

  test("[BU25] [BU26] the last part of a budget is reserved for running turns", () => {
    let account = createAccount(limits)
    account = countTurn(account, { tokens: 40, cost: 0 }, NOON)
    const running = { session: "a", until: NOON + 1, isRunning: true }
    expect(decideTurn(account, [running], NOON)).toHaveProperty("lease")
    expect(decideTurn(account, [running, { ...running, session: "b" }], NOON)).toEqual({
      refusal: { budget: "tokens_per_day", scope: "user", resets: null },
    })
    expect(decideTurn(account, [running, running], NOON, true)).toHaveProperty("lease")
    expect(leaseNextTurn(account, [], NOON).turns).toBe(1)
    expect(leaseNextTurn(account, [running], NOON).turns).toBe(0)
  })

  test("[BU25] many turns can begin before the first has ended, but only if the budget is enough for large turns", () => {
    const running = Array.from({ length: 8 }, (_, n) => ({ session: `${n}`, until: NOON + 1, isRunning: true }))
    const refusal = { budget: "tokens_per_day", scope: "user", resets: null }
    expect(decideTurn(createAccount(limits), running.slice(1), NOON)).toHaveProperty("lease")
    expect(decideTurn(createAccount(limits), running, NOON)).toEqual({ refusal })
    expect(leaseNextTurn(createAccount(limits), running, NOON).turns).toBe(0)
    const large = createAccount({ tenant: {}, role: {}, user: { tokens_per_day: 100_000_000 } })
    expect(decideTurn(large, running, NOON)).toHaveProperty("lease")
    expect(leaseNextTurn(large, running, NOON).turns).toBe(1)
  })

  test("[BU5] a turn that exceeds the budget is counted in full, and the next turn is refused", () => {
    const account = countTurn(createAccount(limits), { tokens: 400, cost: 0 }, NOON)
    expect(account.meters.map(({ spent }) => spent)).toEqual([400, 400])
    const resets = Date.UTC(2026, 10, 23)
    expect(decideTurn(account, [], NOON)).toEqual({ refusal: { budget: "tokens_per_day", scope: "user", resets } })
    expect(decideTurn(account, [], resets)).toHaveProperty("lease")
  })

  test("[BU11] concurrent turns are counted; questions from agents are not", () => {
    const account = createAccount({ tenant: { concurrent_turns: 2 }, role: { concurrent_turns: 1 }, user: {} })
    const running = { session: "a", until: NOON + 1, isRunning: true }
    const refusal = { budget: "concurrent_turns", scope: "role", resets: null }
    expect(decideTurn(account, [], NOON)).toHaveProperty("lease")
    expect(decideTurn(account, [running], NOON)).toEqual({ refusal })
    expect(decideTurn(account, [running], NOON, true)).toHaveProperty("lease")
    expect(leaseNextTurn(account, [], NOON).turns).toBe(0)
  })

  test("[BU8] a response that the tenant sent before midnight does not restore yesterday's usage", () => {
    const today = countTurn(createAccount(limits), { tokens: 7, cost: 0 }, NOON + DAY_MS)
    const yesterday: PeriodSpending = { day: { tokens: 90, cost: 0 }, month: { tokens: 90, cost: 0 } }
    const merged = applyGrant(today, { limits, spent: yesterday, at: NOON }, yesterday, NOTHING)
    expect(merged.meters).toEqual([
      { budget: "tokens_per_day", scope: "user", limit: 100, spent: 7, at: NOON + DAY_MS },
      { budget: "tokens_per_month", scope: "tenant", limit: 1_000, spent: 90, at: NOON + DAY_MS },
    ])
  })

  test("[BU8] if the tenant never responds, eventually no more turns begin", () => {
    let account = createAccount(limits)
    for (let turn = 0; turn < 32; turn++) account = countTurn(account, NO_SPENDING, NOON)
    expect(decideTurn(account, [], NOON)).toEqual({ refusal: "unchecked" })
  })
})
