/**
 * simulate.ts: `npm run simulate` simulates a day of one million sessions, a morning when a tenant's 100,000 users sign
 * in at nine, and the end of a month when the largest tenant has used up its budgets. Objects are reduced to counters.
 *
 * Options: `--sessions N`, `--seed N`, `--tenants N`, `--json` (only the figures). Exits with status 1 and prints the
 * reason if an object receives more than 100 requests in a second, if a budget is exceeded by more than its leases, or
 * if the cost of the day differs from docs/cost.md by more than 10 %.
 */

import { readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { parseArgs } from "node:util"
import { MILLION_SESSIONS, parseDayPrice, simulateDay } from "./cost/simulate-day.ts"
import { LARGEST_UNDER_BUDGETS, simulateBudgets } from "./cost/simulate-budgets.ts"
import { CALLS_BEFORE, CALLS_NOW, NINE_O_CLOCK, simulateMorning } from "./cost/simulate-morning.ts"

/** Requests to one object in a second: half of the maximum that the platform recommends for an object that writes. */
const MAX_OBJECT_RPS = 100

const { values } = parseArgs({
  options: {
    sessions: { type: "string" },
    seed: { type: "string" },
    tenants: { type: "string" },
    json: { type: "boolean" },
  },
})
const plan = {
  ...MILLION_SESSIONS,
  sessions: Number(values.sessions ?? MILLION_SESSIONS.sessions),
  seed: Number(values.seed ?? MILLION_SESSIONS.seed),
  tenants: Number(values.tenants ?? MILLION_SESSIONS.tenants),
}
const startedMs = performance.now()
const { sessions, users, operations, peak, price } = simulateDay(plan)
const page = readFileSync(join(resolve(import.meta.dirname, ".."), "docs/cost.md"), "utf8")
const expected = (parseDayPrice(page) * sessions) / 1e6
const deviation = price / expected - 1
const before = simulateMorning(NINE_O_CLOCK, CALLS_BEFORE)
const now = simulateMorning(NINE_O_CLOCK, CALLS_NOW)
const { tenantTurns, sessions: tenantSessions } = LARGEST_UNDER_BUDGETS
const inTenant = plan.tenants === 1 ? plan.sessions : plan.sessions * plan.largestShare
const budgets = simulateBudgets({
  ...LARGEST_UNDER_BUDGETS,
  seed: plan.seed,
  sessions: inTenant,
  tenantTurns: (inTenant * tenantTurns) / tenantSessions,
})
const formatCount = (value: number): string => Math.round(value).toLocaleString("en")
const lines = [
  "A day",
  `  ${formatCount(sessions)} sessions, ${formatCount(users)} users, ${plan.tenants} tenants, seed ${plan.seed}`,
  `  ${formatCount(operations.firstTurn + operations.turn)} turns`,
  `  new sessions in the busiest second: ${peak.sessions} (mean: ${(sessions / 86_400).toFixed(1)})`,
  `  requests in the busiest second: tenant object ${peak.tenant}, directory ${peak.directory}`,
  `  cost: $${price.toFixed(2)} (docs/cost.md: $${expected.toFixed(2)}, difference: ${(deviation * 100).toFixed(1)} %)`,
  `A morning: ${formatCount(NINE_O_CLOCK.users)} users of one tenant sign in around nine (standard deviation: ${NINE_O_CLOCK.deviationSeconds / 60} minutes)`,
  `  requests to the tenant object in the busiest second, including usage reports: ${formatCount(now)} (without caches: ${formatCount(before)})`,
  `The end of a month: one tenant with budgets, ${formatCount(inTenant)} sessions a day, peak at midnight`,
  `  ${formatCount(budgets.turns)} turns, ${formatCount(budgets.refused)} refused messages`,
  `  calls to the tenant object: ${formatCount(budgets.calls.leases)} for leases, ${formatCount(budgets.calls.refusals)} to confirm refusals, ${formatCount(budgets.calls.remainders)} for the month's remainders`,
  `  requests to it in the busiest second: ${budgets.peak.tenant}; in the minute after midnight: ${budgets.peak.midnight}`,
  `  turns beyond the first day's budget: ${formatCount(budgets.overshoot.turns)} (bound: ${formatCount(budgets.overshoot.bound)})`,
  `Simulated in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`,
]
console.log(values.json === true ? JSON.stringify({ peak, now, budgets }) : lines.join("\n"))
const isTooHot = Math.max(peak.tenant, peak.directory, now, budgets.peak.tenant) > MAX_OBJECT_RPS
const problems = [
  ...(isTooHot ? [`an object receives more than ${MAX_OBJECT_RPS} requests in a second`] : []),
  ...(budgets.overshoot.turns > budgets.overshoot.bound ? ["a budget is exceeded by more than its leases"] : []),
  ...(Math.abs(deviation) > 0.1 ? ["the cost of the day differs from docs/cost.md by more than 10 %"] : []),
]
for (const problem of problems) console.error(`Failed: ${problem}`)
if (problems.length > 0) process.exitCode = 1
