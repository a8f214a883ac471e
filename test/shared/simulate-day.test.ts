/**
 * simulate-day.test.ts: tests that the simulated day is repeatable, has the documented cost, and overloads no object.
 * `npx vitest run --project shared test/shared/simulate-day.test.ts -u` updates the figures in docs/cost.md.
 */

import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { describe, expect, test } from "vitest"
import type { Operation } from "../../scripts/cost/operation-costs.ts"
import { MILLION_SESSIONS, parseDayPrice, type SimulatedDay, simulateDay } from "../../scripts/cost/simulate-day.ts"
import { CALLS_BEFORE, CALLS_NOW, NINE_O_CLOCK, simulateMorning } from "../../scripts/cost/simulate-morning.ts"
import { LARGEST_UNDER_BUDGETS, type SimulatedBudgets, simulateBudgets } from "../../scripts/cost/simulate-budgets.ts"
import { MEAN_OPERATIONS } from "../../scripts/cost/usage-profile.ts"
import { createTable, putTable } from "../support/doc-table.ts"
import { IS_FULL, testInFull } from "../support/seeded.ts"

const MAX_OBJECT_RPS = 100
const ROOT = resolve(import.meta.dirname, "../..")
const PAGE = join(ROOT, "docs/cost.md")
const SIMULATE = join(ROOT, "scripts/simulate.ts")
const PLAN = { ...MILLION_SESSIONS, sessions: 100_000, tenants: 20 }

describe("a day", () => {
  test("[CM8] is the same for the same seed, and different for another seed", () => {
    const plan = { ...PLAN, sessions: 5_000 }
    expect(simulateDay(plan)).toEqual(simulateDay(plan))
    expect(simulateDay({ ...plan, seed: 2 })).not.toEqual(simulateDay(plan))
  })

  test("[CM8] [CM10] has the documented cost, within 10 %, and a peak of five times the mean", () => {
    const { sessions, price, peak } = simulateDay(PLAN)
    const page = readFileSync(PAGE, "utf8")
    expect(Math.abs(price / ((parseDayPrice(page) * sessions) / 1e6) - 1)).toBeLessThan(0.1)
    expect(peak.sessions).toBeGreaterThan((5 * sessions) / 86_400)
  })

  test("[CM10] has the operations per session that docs/cost.md states", () => {
    const { sessions, operations } = simulateDay(PLAN)
    for (const [name, mean] of Object.entries(MEAN_OPERATIONS) as [Operation, number][])
      expect(Math.abs(operations[name] / sessions - mean), name).toBeLessThan(0.02 * Math.max(mean, 1))
  })
})

test.each([9, 1, 2])(
  "[CM8] 100,000 users of one tenant who sign in around nine call its object at most 100 times in any second, seed %d",
  (seed) => {
    expect(simulateMorning({ ...NINE_O_CLOCK, seed }, CALLS_NOW)).toBeLessThanOrEqual(MAX_OBJECT_RPS)
  },
)

test("[CM8] without the caches and the longer admissions, users call the object five times as often", () => {
  expect(simulateMorning(NINE_O_CLOCK, CALLS_BEFORE)).toBeGreaterThan(5 * MAX_OBJECT_RPS)
})

describe("a tenant with budgets, at the end of a month", () => {
  const plan = { ...LARGEST_UNDER_BUDGETS, sessions: 20_000, tenantTurns: 12_000 }

  test("[CM9] is the same for the same seed, and different for another seed", () => {
    expect(simulateBudgets(plan)).toEqual(simulateBudgets(plan))
    expect(simulateBudgets({ ...plan, seed: 2 })).not.toEqual(simulateBudgets(plan))
  })

  test("[CM9] [BU17] a lease is renewed once per eight turns, and a month's remainder is reported once", () => {
    const { turns, calls } = simulateBudgets(plan)
    const users = plan.sessions / 2
    // The first leases include remainders from earlier days.
    expect(calls.leases).toBeLessThanOrEqual((turns + 7 * users) / 8)
    expect(calls.remainders).toBeLessThanOrEqual(users)
  })

  test("[CM9] [BU24] a used-up budget is exceeded by fewer than eight turns per user", () => {
    const { overshoot, refused } = simulateBudgets(plan)
    expect(refused).toBeGreaterThan(1_000)
    expect(overshoot.turns).toBeGreaterThan(0)
    expect(overshoot.turns).toBeLessThan(overshoot.bound)
  })

  test("[CM9] [BU18] without shared answers, refused users call the tenant's object several times as often", () => {
    const { calls } = simulateBudgets(plan)
    expect(simulateBudgets({ ...plan, isolates: 20, sharedSeconds: 0 }).calls.refusals).toBeGreaterThan(calls.refusals)
  })
})

interface Figures {
  readonly peak: SimulatedDay["peak"]
  readonly now: number
  readonly budgets: SimulatedBudgets
}

/** Runs `npm run simulate`. Rejects if the exit status is not 0, which means that an object was called too often. */
async function runSimulation(...options: string[]): Promise<Figures> {
  const { stdout } = await promisify(execFile)(process.execPath, [SIMULATE, "--json", ...options])
  return JSON.parse(stdout) as Figures
}

testInFull(
  "[CM8] [CM9] npm run simulate calls no object more than 100 times a second, and docs/cost.md contains its figures",
  async () => {
    const { peak, now, budgets } = await runSimulation()
    const figures: readonly [string, number][] = [
      ["the object of the largest of 200 tenants, with 100,000 users", peak.tenant],
      ["a user's directory", peak.directory],
      ["a tenant's object when 100,000 users sign in around nine", now],
      ["the same tenant with used-up budgets, in the hours around the end of a month", budgets.peak.tenant],
      ["the same, in the minute after midnight", budgets.peak.midnight],
    ]
    const { turns, refused, overshoot, calls } = budgets
    const counts = [turns, refused, calls.leases, calls.refusals, calls.remainders, overshoot.turns, overshoot.bound]
    const tables = {
      simulated: createTable(
        ["requests in the busiest second", ""],
        figures.map(([what, requests]) => [what, `${requests}`]),
      ),
      overshoot: createTable(
        [
          "turns",
          "refused",
          "calls for leases",
          "to confirm refusals",
          "for remainders",
          "turns beyond the first day's budget",
          "bound",
        ],
        [counts.map((value) => Math.round(value).toLocaleString("en"))],
      ),
    }
    const page = Object.entries(tables).reduce(
      (text, [name, table]) => putTable(text, name, table),
      readFileSync(PAGE, "utf8"),
    )
    await expect(page).toMatchFileSnapshot(PAGE)
  },
  120_000,
)

test.runIf(IS_FULL)(
  "[CM8] [CM9] no object is called too often even if one tenant has all users, as docs/cost.md says",
  async () => {
    const { peak, budgets } = await runSimulation("--tenants", "1")
    const said = `its object receives ${peak.tenant} requests in the busiest second, and ${budgets.peak.tenant} when budgets`
    expect(readFileSync(PAGE, "utf8").replace(/\s+/g, " ")).toContain(said)
  },
  240_000,
)
