/**
 * usage-ledgers.test.ts: checks that the tenant's total is the sum of all turns, after turns, lost calls and restarts
 * in any order.
 */

import { DatabaseSync } from "node:sqlite"
import fc from "fast-check"
import { expect, test } from "vitest"
import type { PricedCall } from "../../shared/usage/call-usage.ts"
import { addTotals, callsToEntries, NO_USAGE, type UsageTotals } from "../../shared/usage/usage-totals.ts"
import type { UsageReport } from "../../shared/usage/usage-report.ts"
import { DIRECTORY_USAGE_TABLES, DirectoryUsage, UNSENT_REPORTS } from "../../worker/usage/directory-usage.ts"
import { SESSION_USAGE_TABLE, SessionUsage } from "../../worker/usage/session-usage.ts"
import { ENDED_USER_LEDGERS, TENANT_USAGE_TABLES, TenantUsage } from "../../worker/usage/tenant-usage.ts"
import { assertPropertyAsync } from "../support/seeded.ts"
import { sqlOf } from "./rows.ts"

const SESSIONS = 2

/** Maximum time that a call can be in transit, in milliseconds. */
const LATEST_MS = 20 * 60 * 60_000

function openSql(tables: string): SqlStorage {
  const database = new DatabaseSync(":memory:")
  database.exec(tables)
  return sqlOf(database)
}

type Reach = "arrives" | "response_lost" | "request_lost"

/** A batch that was sent, and how much time had passed in the model before it was sent. */
interface SentBatch {
  readonly batch: UsageReport
  readonly elapsedMs: number
}

/**
 * A model of a tenant with one user. On request, calls between the objects get lost or arrive twice, and an object
 * loses its memory but keeps its rows. The user can be erased, and is recreated by the next turn.
 */
class LedgerModel {
  readonly #sessionSql = Array.from({ length: SESSIONS }, () => openSql(SESSION_USAGE_TABLE))
  #directorySql = openSql(`${DIRECTORY_USAGE_TABLES}; ${UNSENT_REPORTS}`)
  readonly tenant = new TenantUsage(openSql(`${TENANT_USAGE_TABLES}; ${ENDED_USER_LEDGERS}`))
  readonly #sessions = this.#sessionSql.map(openSession)
  #directory = this.#openDirectory()
  #batchReach: Reach = "arrives"
  now = Date.parse("2026-01-31T23:00:00Z")
  #sent: SentBatch[] = []
  #elapsedMs = 0
  spent: UsageTotals = NO_USAGE
  /** What the user has spent since the last erasure. */
  spentByUser: UsageTotals = NO_USAGE

  endTurn(session: number, calls: readonly PricedCall[]): void {
    this.#at(session).addTurn(calls, "general", this.now)
    const entries = callsToEntries(calls, "", "")
    this.spent = entries.reduce(addTotals, this.spent)
    this.spentByUser = entries.reduce(addTotals, this.spentByUser)
  }

  report(session: number, reach: Reach): void {
    const usage = this.#at(session)
    const report = usage.nextReport()
    if (report === null || reach === "request_lost") return
    this.#directory.add(report)
    if (reach === "arrives") usage.acknowledge(report.n)
  }

  async flush(reach: Reach): Promise<void> {
    this.#batchReach = reach
    await this.#directory.flush().catch(() => {})
  }

  restart(object: number): void {
    const sql = this.#sessionSql[object]
    if (sql === undefined) this.#directory = this.#openDirectory()
    else this.#sessions[object] = openSession(sql)
  }

  /** Erases a session and creates it again. */
  erase(session: number): void {
    const reports = this.#at(session).takeAll()
    for (const report of reports) this.#directory.add(report, report === reports.at(-1))
    const sql = openSql(SESSION_USAGE_TABLE)
    this.#sessionSql[session] = sql
    this.#sessions[session] = openSession(sql)
  }

  /** Erases the user, as erase-user-job.ts does. */
  async eraseUser(): Promise<void> {
    for (let i = 0; i < SESSIONS; i++) this.erase(i)
    await this.flush("arrives")
    this.tenant.removeUser("ada", this.#directory.findLedger(), this.now)
    this.#directorySql = openSql(`${DIRECTORY_USAGE_TABLES}; ${UNSENT_REPORTS}`)
    this.#directory = this.#openDirectory()
    this.spentByUser = NO_USAGE
  }

  /** Delivers an earlier batch again. */
  deliverLate(choice: number): void {
    const late = this.#sent.filter(({ elapsedMs }) => this.#elapsedMs - elapsedMs < LATEST_MS)
    const found = late[choice % Math.max(1, late.length)]
    if (found !== undefined) this.tenant.add(found.batch, "ada", this.now)
  }

  moveClock(ms: number): void {
    this.now = Math.max(0, this.now + ms)
    this.#elapsedMs += Math.max(0, ms)
  }

  readUser(): UsageTotals {
    return this.#directory.readTotals("1970-01-01", "9999-12-31").reduce(addTotals, NO_USAGE)
  }

  #at(session: number): SessionUsage {
    const usage = this.#sessions[session]
    if (usage === undefined) throw new Error(`no session ${session}`)
    return usage
  }

  #openDirectory(): DirectoryUsage {
    return new DirectoryUsage({
      sql: this.#directorySql,
      now: () => this.now,
      name: "acme:ada",
      waitMs: 1_000,
      runInTransaction: (write) => write(),
      onReport: () => {},
      wakeBy: () => {},
      sendBatch: async (batch) => {
        this.#sent.push({ batch, elapsedMs: this.#elapsedMs })
        if (this.#batchReach !== "request_lost") this.tenant.add(batch, "ada", this.now)
        if (this.#batchReach !== "arrives") throw new Error("lost")
      },
    })
  }
}

function openSession(sql: SqlStorage): SessionUsage {
  return new SessionUsage({ queryAll: (query, ...bindings) => sql.exec(query, ...bindings).toArray() })
}

const count = fc.integer({ min: 0, max: 1_000_000 })
const callArbitrary: fc.Arbitrary<PricedCall> = fc.record({
  provider: fc.constantFrom("a", "b"),
  model: fc.constantFrom("big", "small"),
  input: count,
  cached: count,
  cacheWritten: count,
  output: count,
  reasoning: count,
  firstChunkMs: fc.constant(null),
  retries: fc.integer({ min: 0, max: 2 }),
  isReported: fc.constant(true),
  cost: fc.option(count),
})
const session = fc.integer({ min: 0, max: SESSIONS - 1 })
const reach = fc.constantFrom<Reach>("arrives", "arrives", "response_lost", "request_lost")
const actArbitrary = fc.oneof(
  fc.tuple(fc.constant("turn" as const), session, fc.array(callArbitrary, { minLength: 1, maxLength: 3 })),
  fc.tuple(fc.constant("report" as const), session, reach),
  fc.tuple(fc.constant("flush" as const), reach),
  fc.tuple(fc.constant("restart" as const), fc.integer({ min: 0, max: SESSIONS })),
  fc.tuple(fc.constant("erase" as const), session),
  fc.tuple(fc.constant("erase_user" as const)),
  fc.tuple(fc.constant("late" as const), fc.nat({ max: 20 })),
  fc.tuple(fc.constant("clock" as const), fc.integer({ min: -100_000_000, max: 100_000_000 })),
)

type Act = typeof actArbitrary extends fc.Arbitrary<infer T> ? T : never

async function performAct(model: LedgerModel, act: Act): Promise<void> {
  switch (act[0]) {
    case "turn":
      return model.endTurn(act[1], act[2])
    case "report":
      return model.report(act[1], act[2])
    case "flush":
      return await model.flush(act[1])
    case "restart":
      return model.restart(act[1])
    case "erase":
      return model.erase(act[1])
    case "erase_user":
      return await model.eraseUser()
    case "late":
      return model.deliverLate(act[1])
    case "clock":
      return model.moveClock(act[1])
  }
}

test("[MT5] [MT18] [MT7] [MT8] [MT15] whatever gets lost or arrives late, the user's and the tenant's totals end up equal to the sum of all turns", async () => {
  await assertPropertyAsync(
    fc.asyncProperty(fc.array(actArbitrary, { maxLength: 40 }), async (acts) => {
      const model = new LedgerModel()
      for (const act of acts) await performAct(model, act)
      for (let i = 0; i < SESSIONS; i++) {
        // Report twice, because a report may already be in progress. Later usage is sent with the next report.
        model.report(i, "arrives")
        model.report(i, "arrives")
      }
      expect(model.readUser()).toEqual(model.spentByUser)
      await model.flush("arrives")
      const { total } = model.tenant.readPage({ from: "1970-01-01", to: "9999-12-31", by: "day" }, () => [])
      expect(total).toEqual(model.spent)
      const byUser = model.tenant.readPage({ from: "1970-01-01", to: "9999-12-31", by: "user" }, () => ["ada"])
      const own = model.spentByUser
      expect(byUser.rows).toEqual(own.calls === 0 ? [] : [{ user: "ada", ...own }])
    }),
    2_000,
  )
})

test("[MT15] a user's first batch that arrives only after the erasure is attributed to no user", () => {
  const tenant = new TenantUsage(openSql(`${TENANT_USAGE_TABLES}; ${ENDED_USER_LEDGERS}`))
  const now = Date.parse("2026-01-31T23:00:00Z")
  const entry = { ...NO_USAGE, day: "2026-01-31", provider: "a", model: "big", agent: "general", calls: 1, input: 5 }
  tenant.removeUser("ada", "of-ada", now)
  for (let i = 0; i < 2; i++) tenant.add({ ledger: "of-ada", n: 1, entries: [entry] }, "ada", now + 1_000)
  const readBy = (by: "day" | "user") => tenant.readPage({ from: "1970-01-01", to: "9999-12-31", by }, () => ["ada"])
  expect(readBy("day").total).toMatchObject({ calls: 1, input: 5 })
  expect(readBy("user").rows).toEqual([])
})
