/** usage-ledgers.test.ts: after turns, lost calls and restarts in any order, the tenant's total is the sum of all turns. */

import { DatabaseSync } from "node:sqlite"
import fc from "fast-check"
import { expect, test } from "vitest"
import type { PricedCall } from "../../shared/usage/call-usage.ts"
import { addTotals, callsToEntries, NO_USAGE, type UsageTotals } from "../../shared/usage/usage-totals.ts"
import { DIRECTORY_USAGE_TABLES, DirectoryUsage, UNSENT_REPORTS } from "../../worker/usage/directory-usage.ts"
import { SESSION_USAGE_TABLE, SessionUsage } from "../../worker/usage/session-usage.ts"
import { TENANT_USAGE_TABLES, TenantUsage } from "../../worker/usage/tenant-usage.ts"
import { assertPropertyAsync } from "../support/seeded.ts"
import { sqlOf } from "./rows.ts"

const SESSIONS = 2

function openSql(tables: string): SqlStorage {
  const database = new DatabaseSync(":memory:")
  database.exec(tables)
  return sqlOf(database)
}

type Reach = "arrives" | "response_lost" | "request_lost"

/** A tenant with one user, whose calls get lost on request. Each object can lose its memory, but keeps its rows. */
class LedgerModel {
  readonly #sessionSql = Array.from({ length: SESSIONS }, () => openSql(SESSION_USAGE_TABLE))
  readonly #directorySql = openSql(`${DIRECTORY_USAGE_TABLES}; ${UNSENT_REPORTS}`)
  readonly tenant = new TenantUsage(openSql(TENANT_USAGE_TABLES))
  readonly #sessions = this.#sessionSql.map(openSession)
  #directory = this.#openDirectory()
  #batchReach: Reach = "arrives"
  now = Date.parse("2026-01-31T23:00:00Z")
  spent: UsageTotals = NO_USAGE

  endTurn(session: number, calls: readonly PricedCall[]): void {
    this.#at(session).addTurn(calls, "general", this.now)
    this.spent = callsToEntries(calls, "", "").reduce(addTotals, this.spent)
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
        if (this.#batchReach !== "request_lost") this.tenant.add(batch, "ada")
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
  fc.tuple(fc.constant("clock" as const), fc.integer({ min: -100_000_000, max: 100_000_000 })),
)

type Act = typeof actArbitrary extends fc.Arbitrary<infer T> ? T : never

async function perform(model: LedgerModel, act: Act): Promise<void> {
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
    case "clock":
      model.now = Math.max(0, model.now + act[1])
  }
}

test("[MT5] [MT6] [MT7] [MT8] whatever gets lost, the totals of the user and the tenant end up as the sum of all turns", async () => {
  await assertPropertyAsync(
    fc.asyncProperty(fc.array(actArbitrary, { maxLength: 40 }), async (acts) => {
      const model = new LedgerModel()
      for (const act of acts) await perform(model, act)
      for (let i = 0; i < SESSIONS; i++) {
        // A report may be in progress. Later usage is sent with the next one.
        model.report(i, "arrives")
        model.report(i, "arrives")
      }
      expect(model.readUser()).toEqual(model.spent)
      await model.flush("arrives")
      const { total } = model.tenant.readPage({ from: "1970-01-01", to: "9999-12-31", by: "day" }, () => [])
      expect(total).toEqual(model.spent)
      const byUser = model.tenant.readPage({ from: "1970-01-01", to: "9999-12-31", by: "user" }, () => ["ada"])
      expect(byUser.rows).toEqual(total.calls === 0 ? [] : [{ user: "ada", ...total }])
    }),
    2_000,
  )
})
