/**
 * folder-rows.ts: the SQL rows of a user's folders.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import type { SessionFolder } from "../../shared/protocol/http-body.ts"

/** Maximum number of folders per user. The page shows all of them. SPEC OG3. */
export const MAX_FOLDERS = 100

type FolderRow = { id: string; name: string; created: number }

export class FolderRows {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  /** Lists the folders in the order of their creation. */
  list(): SessionFolder[] {
    return this.#sql.exec<FolderRow>("SELECT id, name, created FROM folders ORDER BY created, id").toArray()
  }

  has(id: string): boolean {
    return this.#sql.exec("SELECT 1 FROM folders WHERE id = ?", id).toArray().length > 0
  }

  /** Adds a folder. Repeating the call with the same id has no effect. Errors: `folders_full`. */
  add({ id, name, created }: SessionFolder): Result<SessionFolder> {
    const known = this.#find(id)
    if (known !== null) return succeed(known)
    if (this.list().length >= MAX_FOLDERS) return fail({ reason: "folders_full", max: MAX_FOLDERS })
    this.#sql.exec("INSERT INTO folders (id, name, created) VALUES (?, ?, ?)", id, name, created)
    return succeed({ id, name, created })
  }

  /** Renames a folder. Errors: `folder_unknown`. */
  rename(id: string, name: string): Result<SessionFolder> {
    this.#sql.exec("UPDATE folders SET name = ? WHERE id = ?", name, id)
    const renamed = this.#find(id)
    return renamed === null ? fail({ reason: "folder_unknown" }) : succeed(renamed)
  }

  /** Removes a folder. Its sessions are kept, without a folder. Errors: `folder_unknown`. */
  remove(id: string): Result<null> {
    if (!this.has(id)) return fail({ reason: "folder_unknown" })
    this.#sql.exec("UPDATE sessions SET folder = NULL WHERE folder = ?", id)
    this.#sql.exec("DELETE FROM folders WHERE id = ?", id)
    return succeed(null)
  }

  #find(id: string): SessionFolder | null {
    const [row] = this.#sql.exec<FolderRow>("SELECT id, name, created FROM folders WHERE id = ?", id).toArray()
    return row ?? null
  }
}
