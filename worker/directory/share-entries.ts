/**
 * share-entries.ts: the SQL rows from which all of a user's shared copies are listed.
 *
 * The entries grant no access, and the session's own rows decide which copies exist. An entry is added before its copy
 * is made and removed after the copy is deleted. Expired copies are omitted.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import type { SessionShare } from "../../shared/protocol/http-body.ts"
import type { ShareChange, ShareEntry } from "../platform/rpc/directory-rpc.ts"
import type { DirectoryHost } from "../usage/directory-host.ts"

export const SHARE_ENTRY_TABLE = `
  CREATE TABLE share_entry (
    id TEXT PRIMARY KEY,
    session TEXT NOT NULL,               -- its key
    upto TEXT NOT NULL, title TEXT NOT NULL, named INTEGER NOT NULL,
    created INTEGER NOT NULL, expires INTEGER) WITHOUT ROWID;
  CREATE INDEX share_entry_session ON share_entry (session)`

/** Maximum number of a user's shared copies. One response contains all of them. SPEC SR7. */
export const MAX_USER_SHARES = 500

type Row = Omit<SessionShare, "named"> & { session: string; named: number }

/** Applies a change, and returns the entries. Errors: `share_links_full`. */
export function changeShareEntries({ sql, tables }: DirectoryHost, change: ShareChange): Result<readonly ShareEntry[]> {
  if (change.add === undefined && !tables.exist()) return succeed([])
  tables.create()
  const now = Date.now()
  sql.exec("DELETE FROM share_entry WHERE id = ? OR expires <= ?", change.remove ?? "", now)
  if (change.add !== undefined) {
    const { id, session, upto, title, named, created, expires } = change.add
    const [count] = sql.exec<{ n: number }>("SELECT count(*) AS n FROM share_entry").toArray()
    if (Number(count?.n) >= MAX_USER_SHARES) return fail({ reason: "share_links_full", max: MAX_USER_SHARES })
    const insert = `INSERT OR REPLACE INTO share_entry (id, session, upto, title, named, created, expires)
      VALUES (?, ?, ?, ?, ?, ?, ?)`
    sql.exec(insert, id, session, upto, title, named === true ? 1 : 0, created, expires)
    return succeed([])
  }
  if (change.remove !== undefined) return succeed([])
  const query = "SELECT * FROM share_entry ORDER BY created DESC, id DESC"
  return succeed(sql.exec<Row>(query).toArray().map(rowToEntry))
}

/** Removes the entries of a session. */
export function removeSessionShares(sql: SqlStorage, session: string): void {
  sql.exec("DELETE FROM share_entry WHERE session = ?", session)
}

function rowToEntry({ named, ...entry }: Row): ShareEntry {
  return { ...entry, ...(named === 1 ? { named: true } : {}) }
}
