/** budget-kills.test.ts: real servers are killed while sessions run under budgets of users and of their tenant. */

import { afterEach, expect, test } from "vitest"
import { IS_FULL } from "../support/seeded.ts"
import { BudgetRun, type BudgetRunPlan, NANOS_PER_TOKEN } from "./budget-run.ts"
import { readTurns } from "./stored-budgets.ts"

const [USERS, SESSIONS, TURNS, KILLS] = IS_FULL ? [25, 20, 20, 40] : [6, 4, 8, 5]
const MAX_TURN_TOKENS = 2_000
/** What the turns of a user would use, were there no budgets. */
const DEMAND = (SESSIONS * TURNS * MAX_TURN_TOKENS) / 2

let run: BudgetRun | null = null
afterEach(async () => {
  await run?.remove()
  run = null
})

const PLAN: BudgetRunPlan = {
  seed: 14,
  users: USERS,
  sessionsPerUser: SESSIONS,
  turnsPerSession: TURNS,
  kills: KILLS,
  maxTurnTokens: MAX_TURN_TOKENS,
  tenant: { tokens_per_month: Math.round(USERS * DEMAND * 0.4) },
  limitsOf: (n) =>
    [
      { tokens_per_month: Math.round(DEMAND * 0.3) },
      { cost_per_month: Math.round(DEMAND * 0.3) * NANOS_PER_TOKEN },
      { concurrent_turns: 2 },
    ][n % 3] ?? {},
}

test(`[FS14] ${USERS * SESSIONS} sessions of ${TURNS} turns under budgets and kills: spent ≤ budget + leases, and the ledgers equal the turns`, async () => {
  run = await BudgetRun.start(PLAN)
  const started = Date.now()
  await run.prepare()
  console.log("prepared", Date.now() - started)
  await run.play()
  console.log("played", Date.now() - started, run.counts)
  await run.settle()
  console.log("settled", Date.now() - started)
  await run.raise({ tokens_per_month: 10 * USERS * DEMAND })
  console.log("raised", Date.now() - started)
  await run.stop()
  expect([...run.faults, ...run.findStoredFaults(PLAN.tenant), ...run.findMessageFaults()]).toEqual([])
  console.log([...readTurns(run.persist)].map(([user, { spent, running }]) => [user, spent.tokens, running, JSON.stringify(PLAN.limitsOf(Number(user.split("-")[1])))]), DEMAND)
  expect(run.counts.refused).toBeGreaterThan((USERS * SESSIONS * TURNS) / 10)
})
