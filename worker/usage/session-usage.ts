/**
 * session-usage.ts: the ledger of a session: the usage of its turns that has not yet reached the user's directory.
 *
 * turn's end → LEDGER (one row, in the same transaction) → report → directory
 * The row contains the newest report and the usage since then. Which reports the directory has is recorded only in
 * memory, so a new process sends the newest report again, which has no effect.
 */

import { nanoid } from "nanoid"
import { parseJson } from "../../shared/json.ts"
import type { PricedCall } from "../../shared/usage/call-usage.ts"
import { callsToEntries, mergeEntries, type UsageEntry } from "../../shared/usage/usage-totals.ts"
import type { UsageReport } from "../../shared/usage/usage-report.ts"
import { toDay } from "../../shared/usage/period.ts"

export const SESSION_USAGE_TABLE = `CREATE TABLE usage (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  ledger TEXT NOT NULL, n INTEGER NOT NULL,
  day TEXT NOT NULL,                                  -- of the newest turn
  sending TEXT NOT NULL,                              -- JSON: UsageEntry[] of report n
  unsent TEXT NOT NULL)`

/** The calls on a database that the ledger needs. */
export interface UsageSql {
  queryAll(query: string, ...bindings: SqlStorageValue[]): Record<string, SqlStorageValue>[]
}

interface LedgerRow {
  readonly ledger: string
  readonly n: number
  readonly day: string
  readonly sending: readonly UsageEntry[]
  readonly unsent: readonly UsageEntry[]
}

export class SessionUsage {
  readonly #sql: UsageSql
  /** Number of the newest report that the directory is known to have. */
  #acknowledged = 0

  constructor(sql: UsageSql) {
    this.#sql = sql
  }

  /**
   * Adds the calls of a turn. Call this in the transaction that ends the turn. Writes one row, or none if there were no
   * calls.
   */
  addTurn(calls: readonly PricedCall[], agent: string, nowMs: number): void {
    if (calls.length === 0) return
    const row = this.#readRow() ?? { ledger: nanoid(), n: 0, day: "", sending: [], unsent: [] }
    const today = toDay(nowMs)
    // If the clock was set back, the turn is counted on the day of the newest turn.
    const [, day = today] = [row.day, today].sort()
    const unsent = mergeEntries([...row.unsent, ...callsToEntries(calls, day, agent)])
    const { ledger, n, sending } = row
    if (n > this.#acknowledged) this.#writeRow({ ledger, n, day, sending, unsent })
    else this.#writeRow({ ledger, n: n + 1, day, sending: unsent, unsent: [] })
  }

  /**
   * Returns the report to send next; null if the directory has everything. Writes a row if it must begin a new report.
   */
  nextReport(): UsageReport | null {
    const row = this.#readRow()
    if (row === null) return null
    if (row.n > this.#acknowledged) return toReport(row)
    if (row.unsent.length === 0) return null
    const next = { ...row, n: row.n + 1, sending: row.unsent, unsent: [] }
    this.#writeRow(next)
    return toReport(next)
  }

  /**
   * Returns all reports that the directory may not have, for a session that is being erased. The last of them ends the
   * ledger.
   */
  takeAll(): UsageReport[] {
    // Includes the newest report even if the directory may have it, to notify the directory that it is the last report.
    this.#acknowledged = 0
    const newest = this.nextReport()
    if (newest === null) return []
    this.#acknowledged = newest.n
    const rest = this.nextReport()
    return rest === null ? [newest] : [newest, rest]
  }

  /** Called when the directory has received a report. */
  acknowledge(n: number): void {
    this.#acknowledged = Math.max(this.#acknowledged, n)
  }

  /** Whether a report must be sent. */
  isPending(): boolean {
    const row = this.#readRow()
    return row !== null && (row.n > this.#acknowledged || row.unsent.length > 0)
  }

  #readRow(): LedgerRow | null {
    const [row] = this.#sql.queryAll("SELECT ledger, n, day, sending, unsent FROM usage")
    if (row === undefined) return null
    const parseEntries = (column: string): UsageEntry[] => parseJson(String(row[column])) as unknown as UsageEntry[]
    const { ledger, n, day } = row
    return {
      ledger: String(ledger),
      n: Number(n),
      day: String(day),
      sending: parseEntries("sending"),
      unsent: parseEntries("unsent"),
    }
  }

  #writeRow({ ledger, n, day, sending, unsent }: LedgerRow): void {
    this.#sql.queryAll(
      "INSERT OR REPLACE INTO usage (one, ledger, n, day, sending, unsent) VALUES (1, ?, ?, ?, ?, ?)",
      ledger,
      n,
      day,
      JSON.stringify(sending),
      JSON.stringify(unsent),
    )
  }
}

function toReport({ ledger, n, sending }: LedgerRow): UsageReport {
  return { ledger, n, entries: sending }
}
