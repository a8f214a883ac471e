/**
 * directory-usage.ts: the usage of one user, in the user's directory: the reports of each session, the totals by day,
 * model and agent, and the batches that go to the tenant.
 *
 * report of a session → one row → batch → totals, tenant
 * A report writes one row. The totals are written when a batch begins, so most turns cost nothing more. A batch begins
 * after RENEW_TURNS reports, even if the process ends in between, or when the month has ended.
 */

import { nanoid } from "nanoid"
import { parseJson } from "../../shared/json.ts"
import { findClosingTime } from "./report-time.ts"
import { mergeEntries, type UsageEntry } from "../../shared/usage/usage-totals.ts"
import type { UsageReport } from "../../shared/usage/usage-report.ts"
import { RENEW_TURNS } from "../../shared/usage/user-account.ts"
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

/** Adds a column: the number of a session's reports that are not in any batch yet. A new process sums these numbers. */
export const UNSENT_REPORTS = "ALTER TABLE usage_session ADD COLUMN reports INTEGER NOT NULL DEFAULT 0"

/**
 * Stored instead of the entries of a batch that the tenant has received, so that no later process sends the batch
 * again.
 */
const SENT = "[]"

/** How long the ledger of an erased session is kept, in milliseconds. This is longer than any call can take. */
const ENDED_MS = 24 * 60 * 60_000

export type BatchId = Pick<UsageReport, "ledger" | "n">

export interface DirectoryUsageHost {
  readonly sql: SqlStorage
  readonly now: () => number
  /** The name of this directory. It determines when, in the hours after the end of a month, a remainder is reported. */
  readonly name: string
  /** How long a batch waits after a failure, or if it is not needed sooner, in milliseconds. */
  readonly waitMs: number
  /** Applies either all or none of a callback's writes. */
  readonly runInTransaction: <T>(write: () => T) => T
  /** Sends a batch to the tenant. The same batch may be sent more than once. */
  readonly sendBatch: (batch: UsageReport) => Promise<void>
  /** Called with the entries of each report that is added. */
  readonly onReport: (entries: readonly UsageEntry[]) => void
  /** Makes sure that `flush` is called at this time, even if this process ends. */
  readonly wakeBy: (atMs: number) => void
}

export class DirectoryUsage {
  readonly #host: DirectoryUsageHost
  /** Number of reports that are not in any batch; null until they have been counted. */
  #reports: number | null = null
  /** The latest time for which this process has requested a call to `flush`. */
  #wakesAt: number | null = null
  /** When the waiting batch is sent. */
  #dueAt: number | null = null
  /** The newest batch that the tenant is known to have, with its entries. */
  #acknowledged: UsageReport | null = null
  #flushing: Promise<void> | null = null

  constructor(host: DirectoryUsageHost) {
    this.#host = host
  }

  /**
   * Adds a report, unless it was already added. `isLast`: the session is being erased. Returns whether a batch is due.
   */
  add({ ledger, n, entries }: UsageReport, isLast = false): boolean {
    const { sql, now } = this.#host
    const [row] = sql
      .exec<SessionRow>("SELECT n, unsent, has_unsent FROM usage_session WHERE ledger = ?", ledger)
      .toArray()
    if (row === undefined || n > row.n) this.#addEntries({ ledger, n, entries }, row)
    if (isLast) sql.exec("UPDATE usage_session SET ended = ? WHERE ledger = ?", now(), ledger)
    return this.#countReports() >= RENEW_TURNS
  }

  /** Clears the state in memory. Call this when the rows may have changed. */
  forget(): void {
    this.#reports = null
    this.#wakesAt = null
    this.#dueAt = null
    this.#acknowledged = null
  }

  /**
   * Counts the reports that are not in any batch. Cost: one row read for each session with unsent reports, once per
   * process.
   */
  #countReports(): number {
    const query = "SELECT coalesce(sum(reports), 0) AS n FROM usage_session WHERE has_unsent = 1"
    this.#reports ??= this.#host.sql.exec<{ n: number }>(query).one().n
    return this.#reports
  }

  #addEntries({ ledger, n, entries }: UsageReport, row: SessionRow | undefined): void {
    const { sql, now, wakeBy } = this.#host
    this.#reports = this.#countReports() + 1
    const merged = mergeEntries([...parseEntries(row?.unsent), ...entries])
    const unsent = JSON.stringify(merged)
    if (row?.has_unsent === 1)
      sql.exec("UPDATE usage_session SET n = ?, unsent = ?, reports = reports + 1 WHERE ledger = ?", n, unsent, ledger)
    else
      sql.exec(
        "INSERT OR REPLACE INTO usage_session (ledger, n, unsent, has_unsent, reports) VALUES (?, ?, ?, 1, 1)",
        ledger,
        n,
        unsent,
      )
    this.#host.onReport(entries)
    if (this.#wakesAt !== null && this.#wakesAt >= now()) return
    this.#wakesAt = this.#findClosing(merged)
    if (this.#wakesAt !== null) wakeBy(this.#wakesAt)
  }

  /** Returns when the remainder is reported unless a full batch is sent first; null if there is none. */
  #findClosing(unsent: readonly UsageEntry[]): number | null {
    const { now, name } = this.#host
    const [oldest] = unsent.map(({ day }) => day).sort()
    return oldest === undefined ? null : findClosingTime(oldest, now(), name)
  }

  /**
   * Sends the tenant all usage that it has not yet received. If the tenant cannot be reached, calls `wakeBy` again and
   * rejects.
   */
  flush(): Promise<void> {
    this.#flushing ??= this.#sendAll().finally(() => {
      this.#flushing = null
    })
    return this.#flushing
  }

  async #sendAll(): Promise<void> {
    const { sendBatch } = this.#host
    try {
      for (let batch = this.#nextBatch(); batch !== null; batch = this.#nextBatch()) {
        await sendBatch(batch)
        this.#acknowledge(batch)
      }
      this.#wakesAt = null
      this.#dueAt = null
    } catch (error) {
      this.#dueAt = null
      this.flushLater()
      throw error
    }
  }

  /**
   * Makes sure that a batch is sent later, so that users who arrive at the same time do not all report at the same
   * time.
   */
  flushLater(): void {
    if (this.#dueAt !== null) return
    const { now, waitMs, wakeBy } = this.#host
    this.#dueAt = now() + waitMs
    wakeBy(this.#dueAt)
  }

  /** Keeps the entries in memory, because a reply that is still on its way from the tenant may not include them. */
  #acknowledge(batch: UsageReport): void {
    this.#acknowledged = batch
    const { ledger, n } = batch
    this.#host.sql.exec("UPDATE usage_batch SET sending = ? WHERE ledger = ? AND n = ?", SENT, ledger, n)
  }

  /**
   * Returns the batch that the tenant may lack, or else a new batch of all entries that are not in any batch yet; null
   * if there is nothing to send.
   */
  #nextBatch(): UsageReport | null {
    const row = this.#readBatchAfter(this.#acknowledged)
    if (row !== null) return { ledger: row.ledger, n: row.n, entries: parseEntries(row.sending) }
    return this.#host.runInTransaction(() => this.#beginBatch())
  }

  /** Returns the newest batch, if it is later than `other` and the tenant may lack it. */
  #readBatchAfter(other: BatchId | null): BatchRow | null {
    const row = this.#readBatch()
    if (row === undefined || row.sending === SENT) return null
    return other?.ledger === row.ledger && other.n >= row.n ? null : row
  }

  #readBatch(): BatchRow | undefined {
    return this.#host.sql.exec<BatchRow>("SELECT ledger, n, sending FROM usage_batch").toArray()[0]
  }

  /** Returns when `flushDue` must be called, in milliseconds since 1970; null if the tenant has everything. */
  nextBatchAt(): number | null {
    const { now, waitMs } = this.#host
    if (this.#flushing !== null) return now() + waitMs
    if (this.#dueAt !== null) return this.#dueAt
    // If this is late, an earlier process ended while it was delaying or sending a batch.
    const isLate = this.#countReports() >= RENEW_TURNS || this.#readBatchAfter(this.#acknowledged) !== null
    return isLate ? now() : this.#findClosing(this.readUnsent(null))
  }

  /** Like `flush`, but only if a batch is due. */
  async flushDue(): Promise<void> {
    const dueAt = this.nextBatchAt()
    if (dueAt !== null && dueAt <= this.#host.now()) await this.flush()
  }

  #beginBatch(): UsageReport | null {
    const { sql, now } = this.#host
    const before = this.#readBatch()
    const rows = sql.exec<{ unsent: string }>("SELECT unsent FROM usage_session WHERE has_unsent = 1").toArray()
    const entries = mergeEntries(rows.flatMap(({ unsent }) => parseEntries(unsent)))
    this.#reports = 0
    if (entries.length === 0) return null
    const batch = { ledger: before?.ledger ?? nanoid(), n: (before?.n ?? 0) + 1, entries }
    sql.exec("UPDATE usage_session SET unsent = '[]', has_unsent = 0, reports = 0 WHERE has_unsent = 1")
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

  /**
   * Returns the entries that are not in any batch. With `after`, also returns the entries of the newest batch, unless
   * that is `after.included` or an earlier batch.
   */
  readUnsent(after: { readonly included: BatchId | null } | null): UsageEntry[] {
    const { sql } = this.#host
    const rows = sql.exec<{ unsent: string }>("SELECT unsent FROM usage_session WHERE has_unsent = 1").toArray()
    const unsent = rows.flatMap(({ unsent: json }) => parseEntries(json))
    return after === null ? unsent : [...unsent, ...this.#readBatchEntries(after.included)]
  }

  #readBatchEntries(included: BatchId | null): readonly UsageEntry[] {
    const pending = this.#readBatchAfter(included)
    if (pending !== null) return parseEntries(pending.sending)
    const sent = this.#acknowledged
    const isIncluded = sent === null || (included?.ledger === sent.ledger && included.n >= sent.n)
    return isIncluded ? [] : sent.entries
  }

  /** Returns the name under which the tenant knows the batches; null before the first. */
  findLedger(): string | null {
    return this.#readBatch()?.ledger ?? null
  }

  getAcknowledged(): BatchId | null {
    return this.#acknowledged
  }

  /**
   * Returns the user's totals from one day to another, both inclusive, by day, model and agent. The totals are always
   * complete.
   */
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

/** Parses entries. Only this file writes this JSON. */
function parseEntries(json: string | undefined): UsageEntry[] {
  return json === undefined ? [] : (parseJson(json) as unknown as UsageEntry[])
}
