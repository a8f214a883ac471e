/**
 * directory-usage.ts: the usage of one user, in the user's directory: what each session reported, the totals by day, model and
 * agent, and the batches that go to the tenant.
 *
 * report of a session → one row → batch → totals, tenant
 * A report writes one row. The totals are written when a batch begins, so most turns cost nothing more.
 */

import { nanoid } from "nanoid"
import { parseJson } from "../../shared/json.ts"
import { addTotals, mergeEntries, type UsageEntry } from "../../shared/usage/usage-totals.ts"
import type { UsageReport } from "./usage-report.ts"
import { TOTALS_COLUMNS, putTotals, rowToTotals, type TotalsRow } from "./totals-columns.ts"

export const DIRECTORY_USAGE_TABLES = `
  CREATE TABLE usage_session (
    ledger TEXT PRIMARY KEY, n INTEGER NOT NULL,         -- number of the newest report
    unsent TEXT,                                         -- JSON: UsageEntry[] that are in no batch yet, or null
    ended INTEGER) WITHOUT ROWID;                        -- when the session was erased, or null
  CREATE INDEX usage_unsent ON usage_session (ledger) WHERE unsent IS NOT NULL;
  CREATE TABLE usage_total (
    day TEXT NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL, agent TEXT NOT NULL, ${TOTALS_COLUMNS},
    PRIMARY KEY (day, provider, model, agent)) WITHOUT ROWID;
  CREATE TABLE usage_batch (                             -- the newest batch
    one INTEGER PRIMARY KEY CHECK (one = 1),
    ledger TEXT NOT NULL, n INTEGER NOT NULL, sending TEXT NOT NULL)`

/** Reports of a batch: with more, the tenant's object is asked less, and its totals are older. */
const BATCH_REPORTS = 8

/** How long the ledger of an erased session is remembered, in milliseconds: longer than any call is under way. */
const ENDED_MS = 24 * 60 * 60_000

export interface DirectoryUsageHost {
  readonly sql: SqlStorage
  readonly now: () => number
  /** How long a report waits for others, in milliseconds. */
  readonly batchMs: number
  /** Applies all writes of a callback or none. */
  readonly runInTransaction: <T>(write: () => T) => T
  /** Sends a batch to the tenant. It may be repeated. */
  readonly sendBatch: (batch: UsageReport) => Promise<void>
  /** Makes sure that `flush` is called by then, even if this process ends. */
  readonly wakeBy: (atMs: number) => void
}

export class DirectoryUsage {
  readonly #host: DirectoryUsageHost
  /** Reports that are in no batch. After a restart, at most those of this process. */
  #reports = 0
  #wakesAt: number | null = null
  #acknowledged = 0
  #flushing: Promise<void> | null = null

  constructor(host: DirectoryUsageHost) {
    this.#host = host
  }

  /** Adds a report, once. `isLast`: the session is being erased. Returns whether a batch is due. */
  add({ ledger, n, entries }: UsageReport, isLast = false): boolean {
    const { sql, now, batchMs, wakeBy } = this.#host
    const [row] = sql
      .exec<{ n: number; unsent: string | null }>("SELECT n, unsent FROM usage_session WHERE ledger = ?", ledger)
      .toArray()
    const isNew = n > (row?.n ?? 0)
    if (isNew || isLast) {
      const unsent = mergeEntries([...parseEntries(row?.unsent), ...(isNew ? entries : [])])
      sql.exec(
        "INSERT OR REPLACE INTO usage_session (ledger, n, unsent, ended) VALUES (?, ?, ?, ?)",
        ledger,
        Math.max(n, row?.n ?? 0),
        unsent.length === 0 ? null : JSON.stringify(unsent),
        isLast ? now() : null,
      )
    }
    if (!isNew) return false
    this.#reports += 1
    if (this.#wakesAt === null || this.#wakesAt < now()) {
      this.#wakesAt = now() + batchMs
      wakeBy(this.#wakesAt)
    }
    return this.#reports >= BATCH_REPORTS
  }

  /** Sends what the tenant does not have yet. Rejects if the tenant cannot be reached; `wakeBy` is then called again. */
  flush(): Promise<void> {
    this.#flushing ??= this.#sendAll().finally(() => {
      this.#flushing = null
    })
    return this.#flushing
  }

  async #sendAll(): Promise<void> {
    const { now, batchMs, wakeBy, sendBatch } = this.#host
    try {
      for (let batch = this.#nextBatch(); batch !== null; batch = this.#nextBatch()) {
        await sendBatch(batch)
        this.#acknowledged = batch.n
      }
      this.#wakesAt = null
    } catch (error) {
      this.#wakesAt = now() + batchMs
      wakeBy(this.#wakesAt)
      throw error
    }
  }

  /** The batch that the tenant may not have; else one of everything that is in none yet; null if there is nothing. */
  #nextBatch(): UsageReport | null {
    const { sql, runInTransaction } = this.#host
    const [row] = sql.exec<BatchRow>("SELECT ledger, n, sending FROM usage_batch").toArray()
    if (row !== undefined && row.n > this.#acknowledged) {
      return { ledger: row.ledger, n: row.n, entries: parseEntries(row.sending) }
    }
    return runInTransaction(() => this.#beginBatch(row))
  }

  #beginBatch(before: BatchRow | undefined): UsageReport | null {
    const { sql, now } = this.#host
    const rows = sql.exec<{ unsent: string }>("SELECT unsent FROM usage_session WHERE unsent IS NOT NULL").toArray()
    const entries = mergeEntries(rows.flatMap(({ unsent }) => parseEntries(unsent)))
    this.#reports = 0
    if (entries.length === 0) return null
    const batch = { ledger: before?.ledger ?? nanoid(), n: (before?.n ?? 0) + 1, entries }
    sql.exec("UPDATE usage_session SET unsent = NULL WHERE unsent IS NOT NULL")
    sql.exec("DELETE FROM usage_session WHERE ended < ?", now() - ENDED_MS)
    for (const entry of entries) {
      const { day, provider, model, agent } = entry
      putTotals(sql, { table: "usage_total", key: { day, provider, model, agent }, totals: entry })
    }
    sql.exec(
      "INSERT OR REPLACE INTO usage_batch (one, ledger, n, sending) VALUES (1, ?, ?, ?)",
      batch.ledger,
      batch.n,
      JSON.stringify(entries),
    )
    return batch
  }

  /** The user's totals from one day to another, both included, by day, model and agent. Always complete. */
  readTotals(from: string, to: string): UsageEntry[] {
    const { sql } = this.#host
    type Row = TotalsRow & { day: string; provider: string; model: string; agent: string }
    const stored = sql
      .exec<Row>("SELECT * FROM usage_total WHERE day BETWEEN ? AND ?", from, to)
      .toArray()
      .map(({ day, provider, model, agent, ...totals }) => ({ day, provider, model, agent, ...rowToTotals(totals) }))
    const unsent = sql
      .exec<{ unsent: string }>("SELECT unsent FROM usage_session WHERE unsent IS NOT NULL")
      .toArray()
      .flatMap((row) => parseEntries(row.unsent))
      .filter(({ day }) => day >= from && day <= to)
    return mergeEntries([...stored, ...unsent])
  }
}

type BatchRow = { ledger: string; n: number; sending: string }

/** Written by this file. */
function parseEntries(json: string | null | undefined): UsageEntry[] {
  return json === null || json === undefined ? [] : (parseJson(json) as unknown as UsageEntry[])
}
