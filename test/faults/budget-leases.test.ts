/**
 * budget-leases.test.ts: tests session gates and user budgets on real SQL rows, with turns, lost calls and restarts in
 * any order. The same checks must also find the bugs that this file injects on purpose.
 */

import { DatabaseSync } from "node:sqlite"
import fc from "fast-check"
import { expect, test } from "vitest"
import type { UserLimits } from "../../shared/usage/budget-limits.ts"
import { NO_SPENDING } from "../../shared/usage/budget-meter.ts"
import type { PricedCall } from "../../shared/usage/call-usage.ts"
import { TurnGate } from "../../worker/usage/turn-gate.ts"
import { BUDGET_ACCOUNT_TABLE, UserBudget } from "../../worker/usage/user-budget.ts"
import { assertPropertyAsync, shareOf } from "../support/seeded.ts"
import { sqlOf } from "./rows.ts"
import { listViolations, type Violation } from "./violation.ts"

const SESSIONS = 4
const BUDGET = 1_000
const LIMITS: UserLimits = { tenant: {}, role: {}, user: { tokens_per_day: BUDGET } }
const NOTHING = { day: NO_SPENDING, month: NO_SPENDING }

/** A bug injected into the directory. */
type Mutant = "counts_twice" | "counts_nothing" | "forgets_account" | "admits_all"

interface ModelSession {
  gate: TurnGate
  /** The usage of the running turn, in tokens. */
  running: number | null
  /** The usage that the directory has not counted yet, in tokens. */
  unreported: number
}

class BudgetModel {
  readonly #sql: SqlStorage
  readonly #mutant: Mutant | null
  readonly #sessions: ModelSession[]
  #budget: UserBudget
  #now = Date.UTC(2026, 10, 22, 9)
  #spent = 0
  /**
   * The allowed usage beyond the budget: that of turns that were running or had a lease when the budget was used up.
   * Null before that.
   */
  #leased: number | null = null
  /** The sessions that may begin one more turn. */
  readonly #holders = new Set<number>()
  readonly violations: Violation[] = []

  constructor(mutant: Mutant | null = null) {
    const database = new DatabaseSync(":memory:")
    database.exec(BUDGET_ACCOUNT_TABLE)
    this.#sql = sqlOf(database)
    this.#mutant = mutant
    this.#budget = this.#openBudget()
    this.#budget.applyGrant({ limits: LIMITS, spent: NOTHING, at: this.#now }, NOTHING, NOTHING)
    this.#sessions = Array.from({ length: SESSIONS }, (_, at) => ({
      gate: this.#openGate(at),
      running: null,
      unreported: 0,
    }))
  }

  async begin(at: number, tokens: number): Promise<void> {
    const session = this.#at(at)
    if (session.running !== null) return
    const admitted = this.#mutant === "admits_all" ? { ok: true } : await session.gate.check()
    if (!admitted.ok) return
    session.gate.beginTurn()
    session.running = tokens
    if (this.#leased === null) return
    if (this.#holders.delete(at)) this.#leased += tokens
    else this.#report(at, "a turn began without a lease after the budget was used up")
  }

  /** Ends the running turn. If `isLost`, its report does not reach the directory yet. */
  end(at: number, isLost: boolean): void {
    const session = this.#at(at)
    if (session.running === null) return
    const tokens = session.running
    session.running = null
    session.unreported += tokens
    this.#spent += tokens
    session.gate.countCall({ input: tokens, output: 0, cost: 0 } as PricedCall)
    if (!isLost) this.report(at)
  }

  report(at: number): void {
    const session = this.#at(at)
    const tokens = session.unreported
    if (tokens > 0) this.#count(tokens)
    session.unreported = 0
    this.#observe()
    if (session.running === null) session.gate.renew(this.#budget.leaseNext(String(at)))
  }

  restart(object: number): void {
    const session = this.#sessions[object]
    if (session !== undefined) session.gate = this.#openGate(object)
    else {
      if (this.#mutant === "forgets_account")
        this.#sql.exec("UPDATE budget_account SET account = replace(account, 'spent\":', 'spent\":0,\"was\":')")
      this.#budget = this.#openBudget()
    }
  }

  check(): void {
    for (let at = 0; at < SESSIONS; at++) {
      this.end(at, false)
      this.report(at)
    }
    const counted = this.#budget.readAccount()?.meters[0]?.spent ?? 0
    if (counted !== this.#spent) this.#report(-1, `${counted} tokens are counted, and ${this.#spent} were used`)
    if (this.#leased !== null && this.#spent > BUDGET + this.#leased)
      this.#report(-1, `${this.#spent} tokens were used, ${BUDGET} are allowed, ${this.#leased} were leased`)
  }

  #count(tokens: number): void {
    const times = this.#mutant === "counts_twice" ? 2 : this.#mutant === "counts_nothing" ? 0 : 1
    for (let i = 0; i < times; i++) this.#budget.count({ tokens, cost: 0 })
  }

  /** Once the budget is used up, records the allowed usage beyond it and the sessions that may begin one more turn. */
  #observe(): void {
    const counted = this.#spent - this.#sessions.reduce((sum, { unreported }) => sum + unreported, 0)
    if (this.#leased !== null || counted < BUDGET) return
    this.#leased = counted - BUDGET
    for (const [at, { running, unreported }] of this.#sessions.entries()) {
      this.#leased += unreported + (running ?? 0)
      this.#holders.add(at)
    }
  }

  #openBudget(): UserBudget {
    const listRunning = (): string[] =>
      this.#sessions.flatMap(({ running }, at) => (running === null ? [] : [String(at)]))
    return new UserBudget({ sql: this.#sql, now: () => this.#now++, listRunning })
  }

  #openGate(at: number): TurnGate {
    return new TurnGate({
      now: () => this.#now++,
      readView: () => ({ hasBudgets: true }),
      askDirectory: async () => {
        this.report(at)
        return this.#budget.leaseTurn(String(at), false)
      },
      refreshView: async () => {},
      isRunning: () => true,
      returnLease: async () => this.#budget.setRunning(String(at), false),
    })
  }

  #at(at: number): ModelSession {
    const session = this.#sessions[at]
    if (session === undefined) throw new Error(`no session ${at}`)
    return session
  }

  #report(at: number, detail: string): void {
    this.violations.push({ rule: "budget_kept", session: String(at), detail })
  }
}

const at = fc.integer({ min: 0, max: SESSIONS - 1 })
const actArbitrary = fc.oneof(
  fc.tuple(fc.constant("begin" as const), at, fc.integer({ min: 1, max: 300 })),
  fc.tuple(fc.constant("end" as const), at, fc.boolean()),
  fc.tuple(fc.constant("report" as const), at),
  fc.tuple(fc.constant("restart" as const), fc.integer({ min: 0, max: SESSIONS })),
)

type Act = typeof actArbitrary extends fc.Arbitrary<infer T> ? T : never

async function playActs(acts: readonly Act[], mutant: Mutant | null = null): Promise<readonly Violation[]> {
  const model = new BudgetModel(mutant)
  for (const act of acts) {
    if (act[0] === "begin") await model.begin(act[1], act[2])
    else if (act[0] === "end") model.end(act[1], act[2])
    else if (act[0] === "report") model.report(act[1])
    else model.restart(act[1])
  }
  model.check()
  return model.violations
}

const plans = fc.array(actArbitrary, { minLength: 20, maxLength: 120, size: "max" })

test("[BU9] [BU16] despite lost calls and restarts, no turn begins without a lease once a budget is used up, and each turn is counted once", async () => {
  await assertPropertyAsync(
    fc.asyncProperty(plans, async (acts) => {
      expect(listViolations(await playActs(acts))).toBe("")
    }),
    2_000,
  )
})

test.each(["counts_twice", "counts_nothing", "forgets_account", "admits_all"] as const)(
  "[BU16] the checks detect the injected bug %s",
  async (mutant) => {
    const found = await Promise.all(
      fc.sample(plans, { seed: 1, numRuns: shareOf(1_000) }).map(async (acts) => await playActs(acts, mutant)),
    )
    expect(found.filter((violations) => violations.length > 0).length).toBeGreaterThan(0)
  },
)
