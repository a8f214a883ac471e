/**
 * tenant-usage.ts: the usage of a tenant: totals by day, model and agent, and by user and day.
 *
 * batch of a directory → USAGE → pages of `GET /v1/usage`
 * The totals by day, model and agent don't name any user, so they are kept when a user is erased.
 */

import { addTotals, type UsageEntry, type UsageTotals } from "../../shared/usage/usage-totals.ts"
import type { UsageBy, UsagePage, UsageQuery, UsageRow } from "../../shared/usage/usage-page.ts"
import { putTotals, rowToTotals, SUMMED_COLUMNS, TOTALS_COLUMNS, type TotalsRow } from "./totals-columns.ts"
import type { UsageReport } from "../../shared/usage/usage-report.ts"

export const TENANT_USAGE_TABLES = `
  CREATE TABLE usage_ledger (ledger TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID; -- of users, whom it does not name
  CREATE TABLE usage_total (
    day TEXT NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL, agent TEXT NOT NULL, ${TOTALS_COLUMNS},
    PRIMARY KEY (day, provider, model, agent)) WITHOUT ROWID;
  CREATE TABLE usage_user (
    user TEXT NOT NULL, day TEXT NOT NULL, ${TOTALS_COLUMNS},
    PRIMARY KEY (user, day)) WITHOUT ROWID`

/**
 * Adds a column: the time at which a ledger's user was erased, in milliseconds since 1970. With the index, removing old
 * ledgers reads no other rows.
 */
export const ENDED_USER_LEDGERS = `
  ALTER TABLE usage_ledger ADD COLUMN ended INTEGER;
  CREATE INDEX usage_ledger_ended ON usage_ledger (ended) WHERE ended IS NOT NULL`

/**
 * How long the ledger of an erased user is kept, in milliseconds: longer than any call can take, so that no batch that
 * arrives late is counted twice.
 */
const ENDED_MS = 24 * 60 * 60_000
/** How often old ledgers of erased users are removed, in milliseconds. */
const PRUNE_MS = 60 * 60_000

/** Number of users that one page searches for usage, and number of rows on any other page. */
const PAGE_USERS = 100
const PAGE_ROWS = 500

/** Number of ranges whose sums are kept in memory: a day and a month, and the following day and month. */
const MAX_SUMS = 4

/**
 * Name of the ledger that keeps the number of batches of all erased users. Random names are longer, so none can equal
 * it.
 */
const ERASED_LEDGER = "erased"

interface RangeSum {
  readonly from: string
  readonly to: string
  readonly sum: UsageTotals
}

export class TenantUsage {
  readonly #sql: SqlStorage

  /** Sums that budgets have requested, for the newest days and months. */
  #sums: readonly RangeSum[] = []
  /** When old ledgers were last removed, in milliseconds since 1970. */
  #prunedAt = 0

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  /**
   * Adds a batch, unless it was already added. `user` is null if the user is not in the tenant's list. Call this in a
   * transaction.
   *
   * A batch of an erased user can arrive late, even after a user with the same id has registered again.
   */
  add({ ledger, n, entries }: UsageReport, user: string | null, now: number): void {
    this.#pruneEnded(now)
    const query = "SELECT n, ended FROM usage_ledger WHERE ledger = ?"
    const [row] = this.#sql.exec<{ n: number; ended: number | null }>(query, ledger).toArray()
    if (row !== undefined && n <= row.n) return
    const put = "INSERT INTO usage_ledger (ledger, n) VALUES (?1, ?2) ON CONFLICT (ledger) DO UPDATE SET n = ?2"
    this.#sql.exec(put, ledger, n)
    const owner = row?.ended == null ? user : null
    for (const entry of entries) this.#addEntry(entry, owner)
    this.#sums = this.#sums.map(({ from, to, sum }) => {
      const inRange = entries.filter(({ day }) => day >= from && day <= to)
      return { from, to, sum: inRange.reduce(addTotals, sum) }
    })
  }

  /** Clears the sums in memory. Call this after a transaction was rolled back, or when rows were deleted. */
  forgetSums(): void {
    this.#sums = []
  }

  /** Like `readTotal`. Cost: one read of the range. Further calls cost nothing until MAX_SUMS other ranges are read. */
  sumRange(from: string, to: string): UsageTotals {
    const known = this.#sums.find((range) => range.from === from && range.to === to)
    if (known !== undefined) return known.sum
    const sum = this.readTotal(from, to)
    this.#sums = [...this.#sums.slice(1 - MAX_SUMS), { from, to, sum }]
    return sum
  }

  #addEntry(entry: UsageEntry, user: string | null): void {
    const { day, provider, model, agent } = entry
    putTotals(this.#sql, { table: "usage_total", key: { day, provider, model, agent }, totals: entry })
    if (user !== null) putTotals(this.#sql, { table: "usage_user", key: { user, day }, totals: entry })
  }

  /**
   * Removes the rows of a user, except the number of batches under the ledger's random name, which is kept for
   * ENDED_MS. Call this in a transaction.
   */
  removeUser(user: string, ledger: string | null, now: number): void {
    this.#sql.exec("DELETE FROM usage_user WHERE user = ?", user)
    // If no batch has arrived yet, the row is created, because even the first batch can arrive late.
    const end =
      "INSERT INTO usage_ledger (ledger, n, ended) VALUES (?1, 0, ?2) ON CONFLICT (ledger) DO UPDATE SET ended = ?2"
    if (ledger !== null) this.#sql.exec(end, ledger, now)
    this.#prunedAt = 0
    this.#pruneEnded(now)
  }

  /**
   * Removes old ledgers of erased users, at most once per PRUNE_MS. One row keeps the total number of the removed
   * ledgers' batches.
   */
  #pruneEnded(now: number): void {
    if (Math.abs(now - this.#prunedAt) < PRUNE_MS) return
    this.#prunedAt = now
    const remove = "DELETE FROM usage_ledger WHERE ended < ? RETURNING n"
    const removed = this.#sql.exec<{ n: number }>(remove, now - ENDED_MS).toArray()
    const batches = removed.reduce((sum, { n }) => sum + n, 0)
    if (batches === 0) return
    const add = "INSERT INTO usage_ledger (ledger, n) VALUES (?1, ?2) ON CONFLICT (ledger) DO UPDATE SET n = n + ?2"
    this.#sql.exec(add, ERASED_LEDGER, batches)
  }

  /** Returns the totals for a range of days. `listUsers` lists the tenant's users after an id, by id. */
  readPage(query: UsageQuery, listUsers: (after: string, limit: number) => readonly string[]): UsagePage {
    const { from, to, by } = query
    const { rows, next } = by === "user" ? this.#readUsers(query, listUsers) : this.#readGroups(query)
    return { from, to, by, rows, total: this.readTotal(from, to), next }
  }

  readTotal(from: string, to: string): UsageTotals {
    const query = `SELECT ${SUMMED_COLUMNS} FROM usage_total WHERE day BETWEEN ? AND ?`
    return rowToTotals(this.#sql.exec<TotalsRow>(query, from, to).one())
  }

  #readGroups({ from, to, by, after }: UsageQuery): Pick<UsagePage, "rows" | "next"> {
    const { columns, compare } = GROUPS[by === "user" ? "day" : by]
    const cursor = parseCursor(after, columns.length)
    const where = cursor === null ? "" : `AND ${compare}`
    const query = `SELECT ${columns.join(", ")}, ${SUMMED_COLUMNS} FROM usage_total
      WHERE day BETWEEN ? AND ? ${where} GROUP BY ${columns.join(", ")} ORDER BY ${columns.join(", ")} LIMIT ?`
    const found = this.#sql
      .exec<TotalsRow & Record<string, SqlStorageValue>>(query, from, to, ...(cursor ?? []), PAGE_ROWS + 1)
      .toArray()
      .map((row) => rowToUsage(row, columns))
    const rows = found.slice(0, PAGE_ROWS)
    const last = found.length > PAGE_ROWS ? rows.at(-1) : undefined
    return { rows, next: last === undefined ? null : JSON.stringify(columns.map((name) => last[name])) }
  }

  /** Reads at most PAGE_USERS rows per day of the range, regardless of how many users have no usage in the range. */
  #readUsers(
    { from, to, after }: UsageQuery,
    listUsers: (after: string, limit: number) => readonly string[],
  ): Pick<UsagePage, "rows" | "next"> {
    const users = listUsers(after ?? "", PAGE_USERS)
    const query = `SELECT ${SUMMED_COLUMNS} FROM usage_user WHERE user = ? AND day BETWEEN ? AND ?`
    const rows = users.flatMap((user): UsageRow[] => {
      const totals = rowToTotals(this.#sql.exec<TotalsRow>(query, user, from, to).one())
      return totals.calls === 0 ? [] : [{ user, ...totals }]
    })
    return { rows, next: users.length < PAGE_USERS ? null : (users.at(-1) ?? null) }
  }
}

type GroupColumn = "day" | "provider" | "model" | "agent"

/** The columns that the rows are grouped by, and the comparison that selects the rows after a cursor. */
const GROUPS: Readonly<Record<Exclude<UsageBy, "user">, { columns: readonly GroupColumn[]; compare: string }>> = {
  day: { columns: ["day"], compare: "day > ?" },
  model: { columns: ["model", "provider"], compare: "(model, provider) > (?, ?)" },
  agent: { columns: ["agent"], compare: "agent > ?" },
}

function rowToUsage(row: TotalsRow & Record<string, SqlStorageValue>, columns: readonly GroupColumn[]): UsageRow {
  const key = Object.fromEntries(columns.map((name) => [name, String(row[name])]))
  return { ...key, ...rowToTotals(row) }
}

/** Returns the values of a cursor; null if there is none, or if it does not belong to this list. */
function parseCursor(cursor: string | undefined, length: number): string[] | null {
  if (cursor === undefined) return null
  try {
    const values: unknown = JSON.parse(cursor)
    const isValid =
      Array.isArray(values) && values.length === length && values.every((value) => typeof value === "string")
    return isValid ? values : null
  } catch {
    return null
  }
}
