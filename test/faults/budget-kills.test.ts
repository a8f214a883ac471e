/** budget-kills.test.ts: kills real servers while sessions are running under user budgets and a tenant budget. */

import { afterEach, expect, test } from "vitest"
import { IS_FULL, IS_LONG } from "../support/seeded.ts"
import { BudgetRun, type BudgetRunPlan, NANOS_PER_TOKEN } from "./budget-run.ts"
import { readAccount } from "./stored-budgets.ts"
import { readAll } from "./usage-rows.ts"

const LONG = [25, 20, 20, 40] as const
const [USERS, SESSIONS, TURNS, KILLS] = IS_LONG ? LONG : IS_FULL ? ([10, 6, 8, 10] as const) : ([4, 3, 6, 3] as const)
const MAX_TURN_TOKENS = 2_000
/** A user's expected usage without budgets, in tokens. */
const DEMAND = (SESSIONS * TURNS * MAX_TURN_TOKENS) / 2

const RAISED = { tokens_per_month: 10 * USERS * DEMAND }
/** Maximum duration of a run, in milliseconds. */
const RUN_MS = IS_LONG ? 3_600_000 : 300_000

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

test(
  `[FS15] ${USERS * SESSIONS} sessions of ${TURNS} turns with budgets and repeated kills: usage stays within budget + leases, and the ledgers match the turns`,
  async () => {
    run = await BudgetRun.start(PLAN)
    await run.prepare()
    await run.play()
    await run.settle()
    await run.raise(RAISED)
    await run.stop()
    expect([...run.faults, ...run.findStoredFaults(RAISED), ...run.findMessageFaults()]).toEqual([])
    expect(run.counts.kills).toBe(KILLS)
    expect(run.counts.accepted).toBeGreaterThan((USERS * SESSIONS * TURNS) / 10)
    expect(run.counts.refused).toBeGreaterThan((USERS * SESSIONS * TURNS) / 10)
    // Prove that the checks detect a token that is counted twice.
    countTwice(run.persist)
    expect(run.findStoredFaults(RAISED)).toHaveLength(1)
  },
  RUN_MS,
)

/** Changes the rows as if a directory had counted a token twice in a user's budget. */
function countTwice(persist: string): void {
  let isDone = false
  readAll(persist, "Directory", (database) => {
    const account = readAccount(database)
    const at = account?.meters.findIndex(({ scope }) => scope === "user") ?? -1
    if (isDone || at < 0) return
    isDone = true
    const meters = account?.meters.map((meter, n) => (n === at ? { ...meter, spent: meter.spent + 1 } : meter))
    database.prepare("UPDATE budget_account SET account = ?").run(JSON.stringify({ ...account, meters }))
  })
}
