/** simulate-day.test.ts: the simulated day is repeatable, costs what the document says, and makes no object hot. */

import { describe, expect, test } from "vitest"
import { MILLION_SESSIONS, meanDayPrice, simulateDay } from "../../scripts/cost/simulate-day.ts"
import { CALLS_BEFORE, CALLS_NOW, NINE_O_CLOCK, simulateMorning } from "../../scripts/cost/simulate-morning.ts"

const MAX_OBJECT_RPS = 100
const PLAN = { ...MILLION_SESSIONS, sessions: 100_000, tenants: 20 }

describe("a day", () => {
  test("[CM8] is the same for the same seed, and another for another", () => {
    const plan = { ...PLAN, sessions: 5_000 }
    expect(simulateDay(plan)).toEqual(simulateDay(plan))
    expect(simulateDay({ ...plan, seed: 2 })).not.toEqual(simulateDay(plan))
  })

  test("[CM8] costs what the document says, within 10 %, and has a peak of five times the mean", () => {
    const { sessions, price, peak } = simulateDay(PLAN)
    expect(Math.abs(price / meanDayPrice(sessions) - 1)).toBeLessThan(0.1)
    expect(peak.sessions).toBeGreaterThan((5 * sessions) / 86_400)
  })

  test("[CM8] asks no object more than 100 times a second", () => {
    const { peak } = simulateDay(MILLION_SESSIONS)
    expect(Math.max(peak.tenant, peak.directory)).toBeLessThanOrEqual(MAX_OBJECT_RPS)
  })
})

test("[CM8] 100,000 users of one tenant who sign in around nine ask its object at most 100 times a second", () => {
  expect(simulateMorning(NINE_O_CLOCK, CALLS_NOW)).toBeLessThanOrEqual(MAX_OBJECT_RPS)
  expect(simulateMorning(NINE_O_CLOCK, CALLS_BEFORE)).toBeGreaterThan(5 * MAX_OBJECT_RPS)
})
