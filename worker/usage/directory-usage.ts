/**
 * directory-usage.ts: the usage of one user, in the user's directory: the reports of each session, the totals by day, model and agent, and
 * the batches that go to the tenant.
 *
 * report of a session → one row → batch → totals, tenant
 * A report writes one row. The totals are written when a batch begins, so most turns cost nothing more.
 */

import { nanoid } from "nanoid"
import { parseJson } from "../../shared/json.ts"
import { mergeEntries, type UsageEntry } from "../../shared/usage/usage-totals.ts"
import type { UsageReport } from "../../shared/usage/usage-report.ts"
import { putTotals, rowToTotals, TOTALS_COLUMNS, type TotalsRow } from "./totals-columns.ts"

export const DIRECTORY_USAGE_TABLES = `
  CREATE TABLE usage_session (
    ledger TEXT PRIMARY KEY, n INTEGER NOT NULL,         -- number of the newest report
    unsent TEXT NOT NULL,                                -- JSON: UsageEntry[] that are in no batch yet
    has_unsent INTEGER NOT NULL,                         -- for the index, which most reports then do not change
    ended INTEGER) WITHOUT ROWID;                        -- when the session was erased, or null
  CREATE INDEX usage_unsent ON usage_session (ledger) WHERE has_unsent = 1;
  CREATE TABLE usage_total (
    day TEXT NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL, agent TEXT NOT NULL, ${TOTALS_COLUMNS},
    PRIMARY KEY (day, provider, model, agent)) WITHOUT ROWID;
  CREATE TABLE usage_batch (                             -- the newest batch
    one INTEGER PRIMARY KEY CHECK (one = 1),
    ledger TEXT NOT NULL, n INTEGER NOT NULL, sending TEXT NOT NULL)`

/** With this index, a batch does not read the rows of all sessions to find those that have ended. */
export const ENDED_LEDGERS = "CREATE INDEX usage_ended ON usage_session (ended) WHERE ended IS NOT NULL"

/** Reports in a batch. With more, the tenant's object gets fewer requests, and its totals are older. */
const BATCH_REPORTS = 8

/** How long the ledger of an erased session is remembered, in milliseconds: longer than any call can take. */
const ENDED_MS = 24 * 60 * 60_000

export type BatchId = Pick<UsageReport, "ledger" | "n">

export interface DirectoryUsageHost {
  readonly sql: SqlStorage
  readonly now: () => number
  /** How long a report waits for others, in milliseconds. */
  readonly batchMs: number
  /** Applies all writes of a callback or none. */
  readonly runInTransaction: <T>(write: () => T) => T
  /** Sends a batch to the tenant. It may be repeated. */
  readonly sendBatch: (batch: UsageReport) => Promise<void>
  /** Called with the entries of each report that is added. */
  readonly onReport: (entries: readonly UsageEntry[]) => void
  /** Makes sure that `flush` is called by this time, even if this process ends. */
  readonly wakeBy: (atMs: number) => void
}

export class DirectoryUsage {
  readonly #host: DirectoryUsageHost
  /** Reports that are in no batch. After a restart, at most those of this process. */
  #reports = 0
  #wakesAt: number | null = null
  /** The newest batch that the tenant is known to have. */
  #acknowledged: BatchId | null = null
  #flushing: Promise<void> | null = null

  constructor(host: DirectoryUsageHost) {
    this.#host = host
  }

  /** Adds a report, once. `isLast`: the session is being erased. Returns whether a batch is due. */
  add({ ledger, n, entries }: UsageReport, isLast = false): boolean {
    const { sql, now } = this.#host
    const [row] = sql
      .exec<SessionRow>("SELECT n, unsent, has_unsent FROM usage_session WHERE ledger = ?", ledger)
      .toArray()
    if (row === undefined || n > row.n) this.#addEntries({ ledger, n, entries }, row)
    if (isLast) sql.exec("UPDATE usage_session SET ended = ? WHERE ledger = ?", now(), ledger)
    return this.#reports >= BATCH_REPORTS
  }

  #addEntries({ ledger, n, entries }: UsageReport, row: SessionRow | undefined): void {
    const { sql, now, batchMs, wakeBy } = this.#host
    const unsent = JSON.stringify(mergeEntries([...parseEntries(row?.unsent), ...entries]))
    if (row?.has_unsent === 1)
      sql.exec("UPDATE usage_session SET n = ?, unsent = ? WHERE ledger = ?", n, unsent, ledger)
    else
      sql.exec(
        "INSERT OR REPLACE INTO usage_session (ledger, n, unsent, has_unsent) VALUES (?, ?, ?, 1)",
        ledger,
        n,
        unsent,
      )
    this.#host.onReport(entries)
    this.#reports += 1
    if (this.#wakesAt !== null && this.#wakesAt >= now()) return
    this.#wakesAt = now() + batchMs
    wakeBy(this.#wakesAt)
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
        this.#acknowledged = { ledger: batch.ledger, n: batch.n }
      }
      this.#wakesAt = null
    } catch (error) {
      this.#wakesAt = now() + batchMs
      wakeBy(this.#wakesAt)
      throw error
    }
  }

  /** The batch that the tenant may not have, or else a new one of all reports that are in none. Null if there are none. */
  #nextBatch(): UsageReport | null {
    const row = this.#readBatchAfter(this.#acknowledged)
    if (row !== null) return { ledger: row.ledger, n: row.n, entries: parseEntries(row.sending) }
    return this.#host.runInTransaction(() => this.#beginBatch())
  }

  /** The newest batch, if it is later than another. */
  #readBatchAfter(other: BatchId | null): BatchRow | null {
    const row = this.#readBatch()
    if (row === undefined) return null
    return other?.ledger === row.ledger && other.n >= row.n ? null : row
  }

  #readBatch(): BatchRow | undefined {
    return this.#host.sql.exec<BatchRow>("SELECT ledger, n, sending FROM usage_batch").toArray()[0]
  }

  /** When `flush` must be called, in milliseconds since 1970; null if the tenant has everything. */
  nextBatchAt(): number | null {
    const { sql, now, batchMs } = this.#host
    if (this.#wakesAt !== null && this.#wakesAt > now()) return this.#wakesAt
    const hasUnsent = sql.exec("SELECT 1 FROM usage_session WHERE has_unsent = 1 LIMIT 1").toArray().length > 0
    // After a restart, nobody knows whether the tenant has the newest batch. It is sent again.
    return hasUnsent || this.#readBatchAfter(this.#acknowledged) !== null ? now() + batchMs : null
  }

  #beginBatch(): UsageReport | null {
    const { sql, now } = this.#host
    const before = this.#readBatch()
    const rows = sql.exec<{ unsent: string }>("SELECT unsent FROM usage_session WHERE has_unsent = 1").toArray()
    const entries = mergeEntries(rows.flatMap(({ unsent }) => parseEntries(unsent)))
    this.#reports = 0
    if (entries.length === 0) return null
    const batch = { ledger: before?.ledger ?? nanoid(), n: (before?.n ?? 0) + 1, entries }
    sql.exec("UPDATE usage_session SET unsent = '[]', has_unsent = 0 WHERE has_unsent = 1")
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

  /** The entries that are in no batch, and with `after` those of the newest batch, if it is later than that one. */
  readUnsent(after: { readonly included: BatchId | null } | null): UsageEntry[] {
    const { sql } = this.#host
    const rows = sql.exec<{ unsent: string }>("SELECT unsent FROM usage_session WHERE has_unsent = 1").toArray()
    const batch = after === null ? null : this.#readBatchAfter(after.included)
    return [...rows.flatMap(({ unsent }) => parseEntries(unsent)), ...parseEntries(batch?.sending)]
  }

  getAcknowledged(): BatchId | null {
    return this.#acknowledged
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
      .exec<{ unsent: string }>("SELECT unsent FROM usage_session WHERE has_unsent = 1")
      .toArray()
      .flatMap((row) => parseEntries(row.unsent))
      .filter(({ day }) => day >= from && day <= to)
    return mergeEntries([...stored, ...unsent])
  }
}

type SessionRow = { n: number; unsent: string; has_unsent: number }
type BatchRow = { ledger: string; n: number; sending: string }

/** Written by this file. */
function parseEntries(json: string | undefined): UsageEntry[] {
  return json === undefined ? [] : (parseJson(json) as unknown as UsageEntry[])
}
