/**
 * session-changes.ts: the SQL that pins, archives, files, marks, hides and restores the sessions of a user's directory.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import type { SessionChange } from "../platform/rpc/directory-rpc.ts"
import type { FolderRows } from "./folder-rows.ts"
import { SHELVES } from "./organizing-columns.ts"

/**
 * Finds a listed session by its public id, which is either its key or the part of its key before the dot (`/` follows
 * `.`).
 */
const FIND_SQL = "SELECT id, shelf FROM sessions WHERE id = ?1 OR (id > ?1 || '.' AND id < ?1 || '/') LIMIT 1"

/** `key`: the session's key. `erasesAt`: milliseconds since 1970. */
export interface HiddenSession {
  readonly key: string
  readonly erasesAt: number
}

export class SessionChanges {
  readonly #sql: SqlStorage
  readonly #folders: FolderRows

  constructor(sql: SqlStorage, folders: FolderRows) {
    this.#sql = sql
    this.#folders = folders
  }

  /**
   * Changes a session that is listed or archived. Does not count as activity. Errors: `session_unknown`,
   * `folder_unknown`.
   */
  change(publicId: string, { pinned, archived, folder, unread }: SessionChange): Result<null> {
    const found = this.#find(publicId, SHELVES.archive)
    if (found === null) return fail({ reason: "session_unknown" })
    if (folder !== undefined && folder !== null && !this.#folders.has(folder)) return fail({ reason: "folder_unknown" })
    const toColumn = (flag: boolean | undefined): number | null => (flag === undefined ? null : Number(flag))
    this.#sql.exec(
      `UPDATE sessions SET pinned = coalesce(?, pinned), shelf = coalesce(?, shelf), unread = coalesce(?, unread),
         folder = iif(?, ?, folder) WHERE id = ?`,
      toColumn(pinned),
      toColumn(archived),
      toColumn(unread),
      folder === undefined ? 0 : 1,
      folder ?? null,
      found.id,
    )
    return succeed(null)
  }

  /**
   * Hides a session, which is erased at the given time. If it is already hidden, the time of its erasure does not
   * change. Errors: `session_unknown`.
   */
  hide(publicId: string, erasesAt: number): Result<HiddenSession> {
    const found = this.#find(publicId, SHELVES.hiddenArchive)
    if (found === null) return fail({ reason: "session_unknown" })
    if (found.shelf <= SHELVES.archive)
      this.#sql.exec("UPDATE sessions SET shelf = shelf + 2, gone = ? WHERE id = ?", erasesAt, found.id)
    const [row] = this.#sql.exec<{ gone: number }>("SELECT gone FROM sessions WHERE id = ?", found.id).toArray()
    return succeed({ key: found.id, erasesAt: row?.gone ?? erasesAt })
  }

  /** Returns the key of a session that is listed or hidden; null if it is unknown or being erased. */
  findKey(publicId: string): string | null {
    return this.#find(publicId, SHELVES.hiddenArchive)?.id ?? null
  }

  /**
   * Returns a hidden session to the list. Repeating the call has no effect. Errors: `session_unknown` if it is being
   * erased.
   */
  restore(publicId: string, now: number): Result<null> {
    const found = this.#find(publicId, SHELVES.hiddenArchive)
    if (found === null) return fail({ reason: "session_unknown" })
    this.#sql.exec(
      "UPDATE sessions SET shelf = shelf - 2, gone = NULL WHERE id = ? AND shelf > 1 AND gone > ?",
      found.id,
      now,
    )
    const isHidden = this.#find(publicId, SHELVES.archive) === null
    return isHidden ? fail({ reason: "session_unknown" }) : succeed(null)
  }

  /**
   * Returns the keys of hidden sessions that are due for erasure. They can't be restored any more, and are due again
   * at `retryAt` unless they are removed before that.
   */
  beginErasures(now: number, retryAt: number, limit: number): string[] {
    const due = "SELECT id FROM sessions WHERE gone <= ? ORDER BY gone LIMIT ?"
    return this.#sql
      .exec<{ id: string }>(
        `UPDATE sessions SET shelf = ?, gone = ? WHERE id IN (${due}) RETURNING id`,
        SHELVES.erasing,
        retryAt,
        now,
        limit,
      )
      .toArray()
      .map(({ id }) => id)
  }

  #find(publicId: string, maxShelf: number): { readonly id: string; readonly shelf: number } | null {
    const [row] = this.#sql.exec<{ id: string; shelf: number }>(FIND_SQL, publicId).toArray()
    return row === undefined || row.shelf > maxShelf ? null : row
  }
}
