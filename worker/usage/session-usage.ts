/**
 * session-usage.ts: the ledger of a session: what its turns used and has not yet reached the user's directory.
 *
 * turn's end → LEDGER (one row, in the transaction of the end) → report → directory
 * The row holds the newest report and what was used since. That the directory has a report is remembered in memory only: a
 * new process sends it again, which has no effect.
 */

import { nanoid } from "nanoid"
import { parseJson } from "../../shared/json.ts"
import type { PricedCall } from "../../shared/usage/call-usage.ts"
import { callsToEntries, mergeEntries, type UsageEntry } from "../../shared/usage/usage-totals.ts"
import type { UsageReport, UsageSql } from "./usage-report.ts"
import { toDay } from "./usage-day.ts"

export const SESSION_USAGE_TABLE = `CREATE TABLE usage (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  ledger TEXT NOT NULL, n INTEGER NOT NULL,
  day TEXT NOT NULL,                                  -- of the newest turn
  sending TEXT NOT NULL,                              -- JSON: UsageEntry[] of report n
  unsent TEXT NOT NULL)`

interface LedgerRow {
  readonly ledger: string
  readonly n: number
  readonly day: string
  readonly sending: readonly UsageEntry[]
  readonly unsent: readonly UsageEntry[]
}

export interface SessionUsage {
  /** Adds the calls of a turn that ends. Call this in the transaction of the end. Writes one row, none without calls. */
  addTurn(calls: readonly PricedCall[], agent: string, nowMs: number): void
  /** The report to send next; null if the directory has everything. Writes a row if it has to begin a new report. */
  nextReport(): UsageReport | null
  /** Called when the directory has a report. */
  acknowledge(n: number): void
  /** Whether a report has to be sent. */
  isPending(): boolean
}

export function createSessionUsage({ queryAll }: UsageSql): SessionUsage {
  /** Number of the newest report that the directory is known to have. */
  let acknowledged = 0
  const readRow = (): LedgerRow | null => {
    const [row] = queryAll("SELECT ledger, n, day, sending, unsent FROM usage")
    if (row === undefined) return null
    const parse = (column: string): UsageEntry[] => parseJson(String(row[column])) as unknown as UsageEntry[]
    const { ledger, n, day } = row
    return { ledger: String(ledger), n: Number(n), day: String(day), sending: parse("sending"), unsent: parse("unsent") }
  }
  const writeRow = ({ ledger, n, day, sending, unsent }: LedgerRow): void => {
    queryAll(
      "INSERT OR REPLACE INTO usage (one, ledger, n, day, sending, unsent) VALUES (1, ?, ?, ?, ?, ?)",
      ledger,
      n,
      day,
      JSON.stringify(sending),
      JSON.stringify(unsent),
    )
  }
  return {
    addTurn(calls, agent, nowMs) {
      if (calls.length === 0) return
      const row = readRow() ?? { ledger: nanoid(), n: 0, day: "", sending: [], unsent: [] }
      const today = toDay(nowMs)
      // If the clock was set back, the turn still counts for a day that is not over.
      const day = today > row.day ? today : row.day
      const unsent = mergeEntries([...row.unsent, ...callsToEntries(calls, day, agent)])
      const { ledger, n, sending } = row
      if (n > acknowledged) writeRow({ ledger, n, day, sending, unsent })
      else writeRow({ ledger, n: n + 1, day, sending: unsent, unsent: [] })
    },

    nextReport() {
      const row = readRow()
      if (row === null) return null
      if (row.n > acknowledged) return { ledger: row.ledger, n: row.n, entries: row.sending }
      if (row.unsent.length === 0) return null
      const next = { ...row, n: row.n + 1, sending: row.unsent, unsent: [] }
      writeRow(next)
      return { ledger: next.ledger, n: next.n, entries: next.sending }
    },

    acknowledge(n) {
      acknowledged = Math.max(acknowledged, n)
    },

    isPending() {
      const row = readRow()
      return row !== null && (row.n > acknowledged || row.unsent.length > 0)
    },
  }
}
