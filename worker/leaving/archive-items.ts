/**
 * archive-items.ts: the SQL rows that locate the content of an imported archive. With these rows, the archive can be
 * read in any order, and incomplete sessions are skipped.
 */

import { parseJson } from "../../shared/json.ts"
import type { Block, BlockHeader } from "./archive-blocks.ts"

/** A block, with the file and range of its bytes. */
export interface ArchiveItem {
  readonly n: number
  readonly header: BlockHeader
  readonly file: number
  readonly start: number
  readonly bytes: number
}

type ItemRow = { n: number; about: string; file: number; start: number; bytes: number }

/** Item numbers of file f start at f times this number. No file has that many blocks. */
const ITEMS_PER_FILE = 2 ** 24

export class ArchiveItems {
  readonly #sql: SqlStorage
  readonly #job: string

  constructor(sql: SqlStorage, job: string) {
    this.#sql = sql
    this.#job = job
  }

  /**
   * Adds the blocks of a file. A session's blocks replace earlier rows of the same session. Repeating the call has no
   * effect.
   */
  addFile(file: number, blocks: readonly Block[]): void {
    this.#sql.exec("DELETE FROM archive_item WHERE job = ? AND file = ?", this.#job, file)
    for (const [i, block] of blocks.entries()) {
      const { header } = block
      if (header.type === "session") this.#removeSession(header.user, header.session)
      this.#add(file * ITEMS_PER_FILE + i, file, block)
    }
  }

  /** Removes the sessions that have no end. */
  removeIncomplete(): void {
    this.#sql.exec(
      `DELETE FROM archive_item WHERE job = ?1 AND session != '' AND NOT EXISTS (
         SELECT 1 FROM archive_item other WHERE other.job = ?1 AND other.user = archive_item.user
         AND other.session = archive_item.session AND other.kind = 'session_end')`,
      this.#job,
    )
  }

  /** Returns the items of one kind after an item, in the order of the archive. */
  listAfter(kind: BlockHeader["type"], after: number, limit: number): ArchiveItem[] {
    const query = "SELECT * FROM archive_item WHERE job = ? AND kind = ? AND n > ? ORDER BY n LIMIT ?"
    return this.#sql.exec<ItemRow>(query, this.#job, kind, after, limit).toArray().map(toItem)
  }

  /** Returns the items of one session, in the order of the archive. */
  listSession(user: string, session: string): ArchiveItem[] {
    const query = "SELECT * FROM archive_item WHERE job = ? AND user = ? AND session = ? ORDER BY n"
    return this.#sql.exec<ItemRow>(query, this.#job, user, session).toArray().map(toItem)
  }

  #add(n: number, file: number, { header, start, bytes }: Block): void {
    const [user, session] = "session" in header ? [header.user, header.session] : ["", ""]
    this.#sql.exec(
      `INSERT OR REPLACE INTO archive_item (job, n, user, session, kind, about, file, start, bytes)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      this.#job,
      n,
      user,
      session,
      header.type,
      JSON.stringify(header),
      file,
      start,
      bytes,
    )
  }

  #removeSession(user: string, session: string): void {
    const query = "DELETE FROM archive_item WHERE job = ? AND user = ? AND session = ?"
    this.#sql.exec(query, this.#job, user, session)
  }
}

/** Converts a row. `addFile` wrote its JSON. */
function toItem({ n, about, file, start, bytes }: ItemRow): ArchiveItem {
  return { n, header: parseJson(about) as unknown as BlockHeader, file, start, bytes }
}
