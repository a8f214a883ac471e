/**
 * session-lists.ts: the calls of a user's directory object that read and change the lists of own and shared sessions.
 */

import type { Result } from "../../shared/fault.ts"
import type { SessionSummary, SharedSession } from "../../shared/protocol/http-body.ts"
import type { UsageReceipt, UsageReport } from "../../shared/usage/usage-report.ts"
import { toTitle } from "../../shared/text/title.ts"
import type { Env } from "../env.ts"
import { hasSchema } from "../platform/migrate.ts"
import type { DirectoryEntry, SessionCursor, SharedCursor } from "../platform/rpc/directory-rpc.ts"
import { BudgetDirectory } from "../usage/budget-directory.ts"
import { isListed, listEntries } from "./directory-transfer.ts"
import { SharedRows } from "./shared-rows.ts"

const LIST_COLUMNS = "SELECT id, title, created, active, running FROM sessions"
/** The index ends with the primary key, so that this order needs no sorting either. */
const LIST_ORDER = "ORDER BY active DESC, created DESC, id DESC LIMIT ?"

export const LIST_SQL = `${LIST_COLUMNS} ${LIST_ORDER}`
export const LIST_AFTER_SQL = `${LIST_COLUMNS} WHERE (active, created, id) < (?, ?, ?) ${LIST_ORDER}`

/** Finds a session by its public id, which is also its key or the part of its key before the dot (`/` follows `.`). */
const FIND_KEY_SQL = "SELECT id FROM sessions WHERE id = ?1 OR (id > ?1 || '.' AND id < ?1 || '/') LIMIT 1"

export abstract class SessionLists extends BudgetDirectory {
  readonly #sharedRows: SharedRows

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.#sharedRows = new SharedRows(ctx.storage.sql)
  }

  protected override listRunningSessions(): string[] {
    const { sql } = this.ctx.storage
    return sql
      .exec<{ id: string }>("SELECT id FROM sessions WHERE running = 1")
      .toArray()
      .map(({ id }) => id)
  }

  recordActivity(id: string, at: number, title?: string, running?: boolean): boolean {
    if (!hasSchema(this.ctx.storage.sql)) return running !== undefined
    if (running !== undefined) this.#noteRunning(id, running)
    this.ctx.storage.sql.exec(
      `UPDATE sessions SET active = max(active, ?), title = coalesce(?, title), running = coalesce(?, running)
       WHERE id = ?`,
      at,
      title ?? null,
      running === undefined ? null : Number(running),
      id,
    )
    return running !== undefined
  }

  listSessions(limit: number, after?: SessionCursor): SessionSummary[] {
    if (!hasSchema(this.ctx.storage.sql)) return []
    type ListedRow = Omit<SessionSummary, "running"> & { running: number }
    const { sql } = this.ctx.storage
    const rows =
      after === undefined
        ? sql.exec<ListedRow>(LIST_SQL, limit)
        : sql.exec<ListedRow>(LIST_AFTER_SQL, after.active, after.created, this.#findKey(after.id), limit)
    // An earlier version stored titles with control characters.
    return rows.toArray().map((row) => ({ ...row, title: toTitle(row.title), running: row.running === 1 }))
  }

  /** The key of a session; its public id if the session is no longer listed. */
  #findKey(publicId: string): string {
    const [row] = this.ctx.storage.sql.exec<{ id: string }>(FIND_KEY_SQL, publicId).toArray()
    return row?.id ?? publicId
  }

  setRunning(id: string, running: boolean, report?: UsageReport): UsageReceipt {
    if (report !== undefined) this.addUsage(report)
    if (!hasSchema(this.ctx.storage.sql)) return { n: null }
    this.#noteRunning(id, running)
    const value = running ? 1 : 0
    this.ctx.storage.sql.exec("UPDATE sessions SET running = ? WHERE id = ? AND running <> ?", value, id, value)
    if (report === undefined) return { n: null }
    return running ? { n: report.n } : { n: report.n, lease: this.budget.leaseNext(id) }
  }

  /** The sessions of agents are not listed: their turns belong to the turns that asked. */
  #noteRunning(id: string, running: boolean): void {
    const { sql } = this.ctx.storage
    if (this.budget.readAccount() !== null && isListed(sql, id)) this.budget.setRunning(id, running)
  }

  putShared(shared: SharedSession): Result<null> {
    this.migrate()
    return this.#sharedRows.put(shared)
  }

  renameShared(owner: string, id: string, title: string): void {
    if (hasSchema(this.ctx.storage.sql)) this.#sharedRows.rename(owner, id, title)
  }

  removeShared(owner: string, id: string): void {
    if (hasSchema(this.ctx.storage.sql)) this.#sharedRows.remove(owner, id)
  }

  listShared(limit: number, after?: SharedCursor): SharedSession[] {
    return hasSchema(this.ctx.storage.sql) ? this.#sharedRows.list(limit, after) : []
  }

  listEntries(after: string | null, limit: number): DirectoryEntry[] {
    return hasSchema(this.ctx.storage.sql) ? listEntries(this.ctx.storage.sql, after, limit) : []
  }
}
