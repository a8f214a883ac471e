/**
 * report-calls.test.ts: checks how often a user's directory calls the tenant's object, for any pattern of turns and
 * evictions.
 */

import { DatabaseSync } from "node:sqlite"
import fc from "fast-check"
import { expect, test } from "vitest"
import { toDay, toMonth } from "../../shared/usage/period.ts"
import { NO_USAGE } from "../../shared/usage/usage-totals.ts"
import { RENEW_TURNS } from "../../shared/usage/user-account.ts"
import { DIRECTORY_USAGE_TABLES, DirectoryUsage, UNSENT_REPORTS } from "../../worker/usage/directory-usage.ts"
import { assertPropertyAsync } from "../support/seeded.ts"
import { sqlOf } from "./rows.ts"

const HOUR_MS = 60 * 60_000

interface Turn {
  readonly afterMs: number
  readonly session: number
  /** Whether the directory's memory is lost before the turn, as after ten seconds without a request. */
  readonly isEvicted: boolean
}

/** A directory with its alarm, in virtual time. */
class DirectoryModel {
  readonly #sql: SqlStorage
  readonly #hasBudgets: boolean
  #usage: DirectoryUsage
  #alarm: number | null = null
  readonly #reports = new Map<number, number>()
  /** The number of the newest batch that the tenant has added. */
  #added = 0
  now = Date.parse("2026-01-30T20:00:00Z")
  calls = 0
  turns = 0
  sentCalls = 0
  readonly months = new Set<string>()

  /** With budgets, each batch is sent at once, because it renews the lease. */
  constructor(hasBudgets: boolean) {
    this.#hasBudgets = hasBudgets
    const database = new DatabaseSync(":memory:")
    database.exec(`${DIRECTORY_USAGE_TABLES}; ${UNSENT_REPORTS}`)
    this.#sql = sqlOf(database)
    this.#usage = this.#open()
  }

  async play({ afterMs, session, isEvicted }: Turn): Promise<void> {
    await this.wait(afterMs)
    if (isEvicted) this.#usage = this.#open()
    const n = (this.#reports.get(session) ?? 0) + 1
    this.#reports.set(session, n)
    this.turns += 1
    this.months.add(toMonth(this.now))
    const entry = { ...NO_USAGE, day: toDay(this.now), provider: "p", model: "m", agent: "a", calls: 1 }
    if (!this.#usage.add({ ledger: `${session}`, n, entries: [entry] })) return
    if (this.#hasBudgets) await this.#usage.flush()
    else this.#usage.flushLater()
  }

  /** Advances the time and fires the alarms that are due. Each alarm runs in a new process. */
  async wait(ms: number): Promise<void> {
    const until = this.now + ms
    while (this.#alarm !== null && this.#alarm <= until) {
      this.now = Math.max(this.now, this.#alarm)
      this.#alarm = null
      this.#usage = this.#open()
      await this.#usage.flushDue()
      this.#alarm = this.#usage.nextBatchAt()
    }
    this.now = until
  }

  #open(): DirectoryUsage {
    return new DirectoryUsage({
      sql: this.#sql,
      now: () => this.now,
      name: "acme:ada",
      waitMs: 15 * 60_000,
      runInTransaction: (write) => write(),
      onReport: () => {},
      wakeBy: (atMs) => {
        this.#alarm = Math.min(this.#alarm ?? Infinity, atMs)
      },
      sendBatch: async ({ n, entries }) => {
        this.calls += 1
        if (n <= this.#added) return
        this.#added = n
        this.sentCalls += entries.reduce((sum, { calls }) => sum + calls, 0)
      },
    })
  }
}

const turnArbitrary: fc.Arbitrary<Turn> = fc.record({
  afterMs: fc.oneof(
    fc.integer({ min: 0, max: 60_000 }),
    fc.integer({ min: 0, max: 3 * HOUR_MS }),
    fc.integer({ min: 0, max: 60 * HOUR_MS }),
  ),
  session: fc.integer({ min: 0, max: 3 }),
  isEvicted: fc.boolean(),
})

test("[BU17] the tenant's object always receives at most one call per eight turns, plus one per month for the remainder", async () => {
  await assertPropertyAsync(
    fc.asyncProperty(fc.array(turnArbitrary, { maxLength: 60 }), fc.boolean(), async (turns, hasBudgets) => {
      const model = new DirectoryModel(hasBudgets)
      for (const turn of turns) await model.play(turn)
      expect(model.calls).toBeLessThanOrEqual(Math.floor(model.turns / RENEW_TURNS) + model.months.size)
      await model.wait(32 * 24 * HOUR_MS)
      expect(model.sentCalls).toBe(model.turns)
    }),
    500,
  )
})

test.each([
  ["every two hours", 2 * HOUR_MS, 96, 1],
  ["every minute for four hours", 60_000, 240, 1],
  // Six calls: four batches, and the remainders of two months.
  ["once a day", 24 * HOUR_MS, 32, 1.5],
])(
  "[BU17] turns that run %s, with an eviction before each turn, cause the expected number of calls",
  async (_pattern, afterMs, turns, perEight) => {
    const model = new DirectoryModel(true)
    for (let i = 0; i < turns; i++) await model.play({ afterMs, session: i % 3, isEvicted: true })
    await model.wait(32 * 24 * HOUR_MS)
    expect((model.calls * RENEW_TURNS) / turns).toBe(perEight)
  },
)
