/**
 * session-lists.ts: the lists of a user's own sessions and of the sessions that others share with the user, in the user's
 * directory.
 */

import { type Result, succeed } from "../../shared/fault.ts"
import type { SessionSummary, SharedSession } from "../../shared/protocol/http-body.ts"
import { toTitle } from "../../shared/text/title.ts"
import type { UsageReceipt, UsageReport } from "../../shared/usage/usage-report.ts"
import { StockRows } from "../limits/stock-rows.ts"
import type { DirectoryEntry, SessionCursor, SharedCursor } from "../platform/rpc/directory-rpc.ts"
import type { DirectoryBudgets } from "../usage/directory-budgets.ts"
import type { DirectoryHost } from "../usage/directory-host.ts"
import { SharedRows } from "./shared-rows.ts"

/** With the index, listing sessions reads only the rows that it returns. */
export const SESSION_TABLE = `
  CREATE TABLE IF NOT EXISTS sessions (
    id TEXT PRIMARY KEY, title TEXT NOT NULL,
    created INTEGER NOT NULL, active INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX sessions_active ON sessions (active, created)`

export const SESSION_RUNNING = "ALTER TABLE sessions ADD COLUMN running INTEGER NOT NULL DEFAULT 0"

const LIST_COLUMNS = "SELECT id, title, created, active, running FROM sessions"
/** The index ends with the primary key, so this order needs no sorting either. */
const LIST_ORDER = "ORDER BY active DESC, created DESC, id DESC LIMIT ?"

export const LIST_SQL = `${LIST_COLUMNS} ${LIST_ORDER}`
export const LIST_AFTER_SQL = `${LIST_COLUMNS} WHERE (active, created, id) < (?, ?, ?) ${LIST_ORDER}`

/**
 * How long ago a session with a running turn can have been used, in milliseconds. It is longer than a message can wait for
 * its turn, and longer than a turn counts as running (MAX_RUNNING_MS).
 */
const RUNNING_WINDOW_MS = 24 * 60 * 60_000

/** Finds a session by its public id, which is also its key or the part of its key before the dot (`/` follows `.`). */
const FIND_KEY_SQL = "SELECT id FROM sessions WHERE id = ?1 OR (id > ?1 || '.' AND id < ?1 || '/') LIMIT 1"

export class SessionLists {
  readonly #host: DirectoryHost
  readonly #budgets: DirectoryBudgets
  readonly #stockRows: StockRows
  readonly #sharedRows: SharedRows

  constructor(host: DirectoryHost, budgets: DirectoryBudgets) {
    this.#host = host
    this.#budgets = budgets
    this.#stockRows = new StockRows(host.sql)
    this.#sharedRows = new SharedRows(host.sql)
  }

  /** The number of the user's own sessions. */
  count(): number {
    return this.#stockRows.countSessions()
  }

  /**
   * The keys of the user's own sessions in which a turn is running and that were used in the last RUNNING_WINDOW_MS. Reads
   * all sessions of that period, because an index of the running ones would write two more rows per turn.
   */
  listRunning(): string[] {
    const query = "SELECT id FROM sessions WHERE active > ? AND running = 1"
    return this.#host.sql
      .exec<{ id: string }>(query, Date.now() - RUNNING_WINDOW_MS)
      .toArray()
      .map(({ id }) => id)
  }

  /** Lists a new session, once. Errors: `sessions_full`, `budget_exhausted`. */
  add(entry: DirectoryEntry): Result<null> {
    this.#host.tables.create()
    if (this.#isListed(entry.id)) return succeed(null)
    const budgeted = this.#budgets.account.checkHeld("sessions", this.count() + 1)
    const admitted = budgeted.ok ? this.#stockRows.checkSessions() : budgeted
    if (!admitted.ok) return admitted
    this.restore(entry)
    return succeed(null)
  }

  /** Lists a session regardless of limits, unless it is already listed. */
  restore({ id, title, created, active }: DirectoryEntry): void {
    this.#host.tables.create()
    if (this.#isListed(id)) return
    this.#stockRows.addSessions(1)
    const query = "INSERT INTO sessions (id, title, created, active) VALUES (?, ?, ?, ?)"
    this.#host.sql.exec(query, id, title, created, active)
  }

  /** Removes a session. Returns whether it was listed. */
  remove(id: string): boolean {
    const removed = this.#host.sql.exec("DELETE FROM sessions WHERE id = ? RETURNING id", id).toArray()
    if (removed.length > 0) this.#stockRows.addSessions(-1)
    return removed.length > 0
  }

  recordActivity(id: string, at: number, title?: string, running?: boolean): boolean {
    if (!this.#host.tables.exist()) return running !== undefined
    if (running !== undefined) this.#noteRunning(id, running)
    this.#host.sql.exec(
      `UPDATE sessions SET active = max(active, ?), title = coalesce(?, title), running = coalesce(?, running)
       WHERE id = ?`,
      at,
      title ?? null,
      running === undefined ? null : Number(running),
      id,
    )
    return running !== undefined
  }

  setRunning(id: string, running: boolean, report?: UsageReport): UsageReceipt {
    if (report !== undefined) this.#budgets.metering.add(report)
    if (!this.#host.tables.exist()) return { n: null }
    this.#noteRunning(id, running)
    const value = running ? 1 : 0
    this.#host.sql.exec("UPDATE sessions SET running = ? WHERE id = ? AND running <> ?", value, id, value)
    if (report === undefined) return { n: null }
    return running ? { n: report.n } : { n: report.n, lease: this.#budgets.account.leaseNext(id) }
  }

  /**
   * Records whether a turn is running. Agents' sessions are skipped, because their turns belong to the turns that asked
   * them.
   */
  #noteRunning(id: string, running: boolean): void {
    const { account } = this.#budgets
    if (account.readAccount() !== null && this.#isListed(id)) account.setRunning(id, running)
  }

  #isListed(id: string): boolean {
    return this.#host.sql.exec("SELECT 1 FROM sessions WHERE id = ?", id).toArray().length > 0
  }

  list(limit: number, after?: SessionCursor): SessionSummary[] {
    if (!this.#host.tables.exist()) return []
    type ListedRow = Omit<SessionSummary, "running"> & { running: number }
    const { sql } = this.#host
    const rows =
      after === undefined
        ? sql.exec<ListedRow>(LIST_SQL, limit)
        : sql.exec<ListedRow>(LIST_AFTER_SQL, after.active, after.created, this.#findKey(after.id), limit)
    // An earlier version stored titles with control characters.
    return rows.toArray().map((row) => ({ ...row, title: toTitle(row.title), running: row.running === 1 }))
  }

  /** The key of a session; its public id if the session is no longer listed. */
  #findKey(publicId: string): string {
    const [row] = this.#host.sql.exec<{ id: string }>(FIND_KEY_SQL, publicId).toArray()
    return row?.id ?? publicId
  }

  /** The user's own sessions by key, as an export contains them. */
  listEntries(after: string | null, limit: number): DirectoryEntry[] {
    if (!this.#host.tables.exist()) return []
    const query = "SELECT id, title, created, active FROM sessions WHERE id > ? ORDER BY id LIMIT ?"
    type EntryRow = DirectoryEntry & Record<string, SqlStorageValue>
    return this.#host.sql.exec<EntryRow>(query, after ?? "", limit).toArray()
  }

  putShared(shared: SharedSession): Result<null> {
    this.#host.tables.create()
    return this.#sharedRows.put(shared)
  }

  renameShared(owner: string, id: string, title: string): void {
    if (this.#host.tables.exist()) this.#sharedRows.rename(owner, id, title)
  }

  removeShared(owner: string, id: string): void {
    if (this.#host.tables.exist()) this.#sharedRows.remove(owner, id)
  }

  listShared(limit: number, after?: SharedCursor): SharedSession[] {
    return this.#host.tables.exist() ? this.#sharedRows.list(limit, after) : []
  }
}
