/**
 * simulate.ts: `npm run simulate` simulates a day of one million sessions, a morning when a tenant's 100,000 users sign in
 * at nine, and the end of a month when the largest tenant has used up its budgets. Objects are reduced to counters.
 *
 * Options: `--sessions N`, `--seed N`, `--tenants N`, `--json` (only the figures). Exits with status 1 and prints the
 * reason if an object receives more than 100 requests in a second, if a budget is exceeded by more than its leases, or if
 * the cost of the day differs from docs/cost.md by more than 10 %.
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
const count = (value: number): string => Math.round(value).toLocaleString("en")
const lines = [
  `${count(sessions)} sessions of ${count(users)} users in ${plan.tenants} tenants, seed ${plan.seed}`,
  `turns: ${count(operations.firstTurn + operations.turn)}`,
  `sessions that begin in the busiest second: ${peak.sessions} (mean ${(sessions / 86_400).toFixed(1)})`,
  `busiest second of a tenant's object: ${peak.tenant} requests; of a directory: ${peak.directory}`,
  `cost: $${price.toFixed(2)}, by the document $${expected.toFixed(2)} (${(deviation * 100).toFixed(1)} %)`,
  `${count(NINE_O_CLOCK.users)} users of one tenant sign in around nine (standard deviation ${NINE_O_CLOCK.deviationSeconds / 60} minutes): its object is asked ${count(before)} times in the busiest second before, ${count(now)} now, with reports of usage`,
  `with budgets, ${count(inTenant)} sessions of one tenant, midnight at the peak: ${count(budgets.turns)} turns, ${count(budgets.refused)} refused; calls for leases ${count(budgets.calls.leases)}, before refusals ${count(budgets.calls.refusals)}, for rests of the month ${count(budgets.calls.rests)}`,
  `busiest second of its object: ${budgets.peak.tenant} requests, in the minute after midnight ${budgets.peak.midnight}; the budget of a day was exceeded by ${count(budgets.overshoot.turns)} turns, at most ${count(budgets.overshoot.bound)}`,
  `${((performance.now() - startedMs) / 1000).toFixed(1)} s`,
]
console.log(values.json === true ? JSON.stringify({ peak, now, budgets }) : lines.join("\n"))
const isTooHot = Math.max(peak.tenant, peak.directory, now, budgets.peak.tenant) > MAX_OBJECT_RPS
const problems = [
  ...(isTooHot ? [`an object is asked more than ${MAX_OBJECT_RPS} times in a second`] : []),
  ...(budgets.overshoot.turns > budgets.overshoot.bound ? ["a budget was exceeded by more than its leases"] : []),
  ...(Math.abs(deviation) > 0.1 ? ["the day does not cost what docs/cost.md says"] : []),
]
for (const problem of problems) console.error(`not as it should be: ${problem}`)
if (problems.length > 0) process.exitCode = 1
