/** simulate-day.test.ts: the simulated day is repeatable, its cost matches the document, and no object is too busy. */

import { readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { describe, expect, test } from "vitest"
import type { Operation } from "../../scripts/cost/operation-costs.ts"
import { MILLION_SESSIONS, parseDayPrice, simulateDay } from "../../scripts/cost/simulate-day.ts"
import { CALLS_BEFORE, CALLS_NOW, NINE_O_CLOCK, simulateMorning } from "../../scripts/cost/simulate-morning.ts"
import { MEAN_OPERATIONS } from "../../scripts/cost/usage-profile.ts"

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
    const page = readFileSync(join(resolve(import.meta.dirname, "../.."), "docs/cost.md"), "utf8")
    expect(Math.abs(price / ((parseDayPrice(page) * sessions) / 1e6) - 1)).toBeLessThan(0.1)
    expect(peak.sessions).toBeGreaterThan((5 * sessions) / 86_400)
  })

  test("[CM8] has the operations of the document's mean session", () => {
    const { sessions, operations } = simulateDay(PLAN)
    for (const [name, mean] of Object.entries(MEAN_OPERATIONS) as [Operation, number][])
      expect(Math.abs(operations[name] / sessions - mean), name).toBeLessThan(0.02 * Math.max(mean, 1))
  })

  test("[CM8] asks no object more than 100 times a second", () => {
    const { peak } = simulateDay(MILLION_SESSIONS)
    expect(Math.max(peak.tenant, peak.directory)).toBeLessThanOrEqual(MAX_OBJECT_RPS)
  })
})

test.each([9, 1, 2])(
  "[CM8] 100,000 users of one tenant who sign in around nine ask its object at most 100 times in any second, seed %d",
  (seed) => {
    expect(simulateMorning({ ...NINE_O_CLOCK, seed }, CALLS_NOW)).toBeLessThanOrEqual(MAX_OBJECT_RPS)
  },
)

test("[CM8] before the caches and the longer admissions they asked five times as much", () => {
  expect(simulateMorning(NINE_O_CLOCK, CALLS_BEFORE)).toBeGreaterThan(5 * MAX_OBJECT_RPS)
})
