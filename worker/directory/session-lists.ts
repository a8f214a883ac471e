/**
 * session-lists.ts: the lists of a user's own sessions and of the sessions that others share with the user, in the
 * user's directory.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import type { SessionFolder, SessionSummary, SharedSession } from "../../shared/protocol/http-body.ts"
import { toTitle } from "../../shared/text/title.ts"
import type { UsageReceipt, UsageReport } from "../../shared/usage/usage-report.ts"
import { StockRows } from "../limits/stock-rows.ts"
import { SHELVES } from "../organizing/organizing-columns.ts"
import type { DirectoryEntry, SessionCursor, SessionFilter, SharedCursor } from "../platform/rpc/directory-rpc.ts"
import type { DirectoryBudgets } from "../usage/directory-budgets.ts"
import type { DirectoryHost } from "../usage/directory-host.ts"
import { removeSessionShares } from "./share-entries.ts"
import { SharedRows } from "./shared-rows.ts"

/** With the index, listing sessions reads only the rows that it returns. */
export const SESSION_TABLE = `
  CREATE TABLE IF NOT EXISTS sessions (
    id TEXT PRIMARY KEY, title TEXT NOT NULL,
    created INTEGER NOT NULL, active INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX sessions_active ON sessions (active, created)`

export const SESSION_RUNNING = "ALTER TABLE sessions ADD COLUMN running INTEGER NOT NULL DEFAULT 0"

const LIST_COLUMNS =
  "SELECT id, title, created, active, running, shelf, pinned, folder, unread FROM sessions WHERE shelf = ?"
const IN_FOLDER = "AND folder = ?"
const AFTER = "AND (pinned, active, created, id) < (?, ?, ?, ?)"
/** The indexes end with the primary key, so rows are read in this order without sorting. */
const LIST_ORDER = "ORDER BY pinned DESC, active DESC, created DESC, id DESC LIMIT ?"

export const LIST_SQL = `${LIST_COLUMNS} ${LIST_ORDER}`
export const LIST_AFTER_SQL = `${LIST_COLUMNS} ${AFTER} ${LIST_ORDER}`
export const FOLDER_SQL = `${LIST_COLUMNS} ${IN_FOLDER} ${LIST_ORDER}`
export const FOLDER_AFTER_SQL = `${LIST_COLUMNS} ${IN_FOLDER} ${AFTER} ${LIST_ORDER}`

/** A range condition can use the index only up to the column `active`. */
const RUNNING_SQL = `SELECT id FROM sessions
  WHERE shelf IN (0, 1, 2, 3, 4, 5) AND pinned IN (0, 1) AND active > ? AND running = 1`

/**
 * Maximum time since a session with a running turn was last used, in milliseconds. This is longer than a message can
 * wait for its turn, and longer than a turn is considered running (MAX_RUNNING_MS).
 */
const RUNNING_WINDOW_MS = 24 * 60 * 60_000

/**
 * Finds a session by its public id, which is either its key or the part of its key before the dot (`/` follows `.`).
 */
const FIND_KEY_SQL = "SELECT id FROM sessions WHERE id = ?1 OR (id > ?1 || '.' AND id < ?1 || '/') LIMIT 1"

type FolderRow = { id: string; name: string; created: number }
type EntryRow = {
  id: string
  title: string
  created: number
  active: number
  shelf: number
  pinned: number
  folder: string | null
  unread: number
}
type ListedRow = EntryRow & { running: number }

/**
 * Returns the keys of the user's own sessions in which a turn is running and that were used in the last
 * RUNNING_WINDOW_MS. Reads all sessions of that period, because an index of running sessions would write two more rows
 * per turn.
 */
export function listRunningSessions(sql: SqlStorage): string[] {
  return sql
    .exec<{ id: string }>(RUNNING_SQL, Date.now() - RUNNING_WINDOW_MS)
    .toArray()
    .map(({ id }) => id)
}

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

  /** Returns the number of the user's own sessions. */
  count(): number {
    return this.#stockRows.countSessions()
  }

  /**
   * Adds a new session to the list, unless it is already listed. Errors: `sessions_full`, `budget_exhausted`;
   * `session_unknown` if a deleted session with this id isn't erased yet, because the new session would be erased along
   * with it.
   */
  add(entry: DirectoryEntry): Result<null> {
    this.#host.tables.create()
    if (this.#isHidden(entry.id)) return fail({ reason: "session_unknown" })
    if (this.isListed(entry.id)) return succeed(null)
    const budgeted = this.#budgets.account.checkHeld("sessions", this.count() + 1)
    const admitted = budgeted.ok ? this.#stockRows.checkSessions() : budgeted
    if (!admitted.ok) return admitted
    this.restore(entry, true)
    return succeed(null)
  }

  /** Lists a session regardless of limits, unless it is already listed. A new session has no text to index. */
  restore(entry: DirectoryEntry, isNew = false): void {
    const { id, title, created, active, pinned, archived, folder, unread, isTemporary } = entry
    this.#host.tables.create()
    if (this.isListed(id)) return
    this.#stockRows.addSessions(1)
    const { sql } = this.#host
    if (folder !== undefined) {
      const insert = "INSERT OR IGNORE INTO folders (id, name, created) VALUES (?, ?, ?)"
      sql.exec(insert, folder.id, folder.name, folder.created)
    }
    sql.exec(
      `INSERT INTO sessions (id, title, created, active, pinned, shelf, folder, unread, indexed)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      id,
      title,
      created,
      active,
      pinned === true ? 1 : 0,
      isTemporary === true ? SHELVES.temporary : archived === true ? SHELVES.archive : SHELVES.main,
      folder?.id ?? null,
      unread === true ? 1 : 0,
      isNew || isTemporary === true ? 1 : 0,
    )
  }

  /** Removes a session. Returns whether it was listed. */
  remove(id: string): boolean {
    const removed = this.#host.sql.exec("DELETE FROM sessions WHERE id = ? RETURNING id", id).toArray()
    if (removed.length > 0) this.#stockRows.addSessions(-1)
    removeSessionShares(this.#host.sql, id)
    return removed.length > 0
  }

  /** Whether a session is listed under another title. */
  isRenamed(id: string, title: string | undefined): boolean {
    const known = title === undefined ? undefined : this.#readTitle(id)
    return known !== undefined && known !== title
  }

  /** Records activity. `running` is given only with a message from the user, so the session counts as read. */
  recordActivity(id: string, at: number, title?: string, running?: boolean): void {
    if (running !== undefined) this.#storeRunning(id, running)
    this.#host.sql.exec(
      `UPDATE sessions SET active = max(active, ?), title = coalesce(?, title), running = coalesce(?, running),
         unread = iif(?, 0, unread)
       WHERE id = ?`,
      at,
      title ?? null,
      running === undefined ? null : Number(running),
      running === undefined ? 0 : 1,
      id,
    )
  }

  /**
   * Stores whether a turn is running. `isUnattended`: if this call records the end of a turn, the session becomes
   * unread. Repeating the call does not mark the session again.
   */
  setRunning(id: string, running: boolean, report?: UsageReport, isUnattended = false): UsageReceipt {
    if (report !== undefined) this.#budgets.metering.add(report)
    if (!this.#host.tables.exist()) return { n: null }
    this.#storeRunning(id, running)
    this.#host.sql.exec(
      "UPDATE sessions SET running = ?1, unread = max(unread, ?2) WHERE id = ?3 AND running <> ?1",
      running ? 1 : 0,
      isUnattended && !running ? 1 : 0,
      id,
    )
    if (report === undefined) return { n: null }
    return running ? { n: report.n } : { n: report.n, lease: this.#budgets.account.leaseNext(id) }
  }

  /** Called when the user opens a socket in a session. Writes only if the session was unread. */
  markRead(id: string): void {
    this.#host.sql.exec("UPDATE sessions SET unread = 0 WHERE id = ? AND unread = 1", id)
  }

  /**
   * Records whether a turn is running. Agents' sessions are skipped, because their turns belong to the turns that asked
   * the agents.
   */
  #storeRunning(id: string, running: boolean): void {
    const { account } = this.#budgets
    if (account.readAccount() !== null && this.isListed(id)) account.setRunning(id, running)
  }

  #isHidden(id: string): boolean {
    const query = "SELECT 1 FROM sessions WHERE id = ? AND gone IS NOT NULL"
    return this.#host.sql.exec(query, id).toArray().length > 0
  }

  /** Whether a session has this key, even a hidden or temporary one. */
  isListed(id: string): boolean {
    return this.#host.sql.exec("SELECT 1 FROM sessions WHERE id = ?", id).toArray().length > 0
  }

  #readTitle(id: string): string | undefined {
    return this.#host.sql.exec<{ title: string }>("SELECT title FROM sessions WHERE id = ?", id).toArray()[0]?.title
  }

  list(
    limit: number,
    after: SessionCursor | null = null,
    { isArchived, folder }: SessionFilter = {},
  ): SessionSummary[] {
    if (!this.#host.tables.exist()) return []
    const query = [
      [LIST_SQL, LIST_AFTER_SQL],
      [FOLDER_SQL, FOLDER_AFTER_SQL],
    ][folder === undefined ? 0 : 1]?.[after === null ? 0 : 1]
    const position =
      after === null ? [] : [after.isPinned ? 1 : 0, after.active, after.created, this.#findKey(after.id)]
    const shelf = isArchived === true ? SHELVES.archive : SHELVES.main
    const bindings = [shelf, ...(folder === undefined ? [] : [folder]), ...position, limit]
    return this.#host.sql
      .exec<ListedRow>(query ?? LIST_SQL, ...bindings)
      .toArray()
      .map(rowToSummary)
  }

  /** Returns the key of a session; its public id if the session is no longer listed. */
  #findKey(publicId: string): string {
    const [row] = this.#host.sql.exec<{ id: string }>(FIND_KEY_SQL, publicId).toArray()
    return row?.id ?? publicId
  }

  /**
   * Returns the user's own sessions in the order of their keys; with `isExport`, only those that an export contains.
   */
  listEntries(after: string | null, limit: number, isExport: boolean): DirectoryEntry[] {
    if (!this.#host.tables.exist()) return []
    const folders = new Map(this.#listFolders().map((folder) => [folder.id, folder]))
    const query = `SELECT id, title, created, active, shelf, pinned, folder, unread FROM sessions
      WHERE id > ? AND shelf <= ? ORDER BY id LIMIT ?`
    return this.#host.sql
      .exec<EntryRow>(query, after ?? "", isExport ? SHELVES.archive : SHELVES.erasing, limit)
      .toArray()
      .map((row) => rowToEntry(row, folders.get(row.folder ?? "")))
  }

  #listFolders(): SessionFolder[] {
    return this.#host.sql.exec<FolderRow>("SELECT id, name, created FROM folders").toArray()
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

/** Converts a row to a list entry. Removes the control characters that an earlier version stored in titles. */
function rowToSummary({
  id,
  title,
  created,
  active,
  running,
  shelf,
  pinned,
  folder,
  unread,
}: ListedRow): SessionSummary {
  return {
    id,
    title: toTitle(title),
    created,
    active,
    running: running === 1,
    ...(pinned === 1 ? { pinned: true } : {}),
    ...(shelf === SHELVES.archive ? { archived: true } : {}),
    ...(folder === null ? {} : { folder }),
    ...(unread === 1 ? { unread: true } : {}),
  }
}

function rowToEntry(
  { id, title, created, active, shelf, pinned, unread }: EntryRow,
  folder?: SessionFolder,
): DirectoryEntry {
  const isArchived = shelf === SHELVES.archive || shelf === SHELVES.hiddenArchive
  return {
    id,
    title,
    created,
    active,
    ...(pinned === 1 ? { pinned: true } : {}),
    ...(isArchived ? { archived: true } : {}),
    ...(folder === undefined ? {} : { folder }),
    ...(unread === 1 ? { unread: true } : {}),
    ...(shelf === SHELVES.temporary ? { isTemporary: true } : {}),
  }
}
