/**
 * shared-rows.ts: the SQL rows of the sessions that other users shared with one user.
 *
 * The rows grant no access: each session object itself decides who may read the session. A row contains the public id
 * of its session, because the key would reveal whether another user has a session with the same id
 * (platform/session-key.ts).
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import { MAX_SHARED_BY_OWNER } from "../../shared/limits.ts"
import type { SharedSession } from "../../shared/protocol/http-body.ts"
import type { SharedCursor } from "../platform/rpc/directory-rpc.ts"

export const SHARED_TABLE = `
  CREATE TABLE shared (
    owner TEXT NOT NULL, id TEXT NOT NULL, title TEXT NOT NULL,
    since INTEGER NOT NULL,              -- milliseconds since 1970
    PRIMARY KEY (owner, id)) WITHOUT ROWID;
  CREATE INDEX shared_since ON shared (since, owner, id)`

/** The index contains all columns of the sort order, so that a page reads only the rows that it returns. */
const COLUMNS = "SELECT id, owner, title, since FROM shared"
const ORDER = "ORDER BY since DESC, owner DESC, id DESC LIMIT ?"

export const SHARED_SQL = `${COLUMNS} ${ORDER}`
export const SHARED_AFTER_SQL = `${COLUMNS} WHERE (since, owner, id) < (?, ?, ?) ${ORDER}`

export class SharedRows {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  /** Lists a session, or replaces its entry. Errors: `shares_full`. Cost: reads the owner's rows. */
  put({ owner, id, title, since }: SharedSession): Result<null> {
    const [row] = this.#sql
      .exec<{ n: number }>("SELECT count(*) AS n FROM shared WHERE owner = ? AND id <> ?", owner, id)
      .toArray()
    if (Number(row?.n) >= MAX_SHARED_BY_OWNER) return fail({ reason: "shares_full", max: MAX_SHARED_BY_OWNER })
    const insert = "INSERT OR REPLACE INTO shared (owner, id, title, since) VALUES (?, ?, ?, ?)"
    this.#sql.exec(insert, owner, id, title, since)
    return succeed(null)
  }

  rename(owner: string, id: string, title: string): void {
    this.#sql.exec("UPDATE shared SET title = ? WHERE owner = ? AND id = ?", title, owner, id)
  }

  remove(owner: string, id: string): void {
    this.#sql.exec("DELETE FROM shared WHERE owner = ? AND id = ?", owner, id)
  }

  /** Lists the sessions, newest first, from the beginning or after a position. */
  list(limit: number, after?: SharedCursor): SharedSession[] {
    type Row = { id: string; owner: string; title: string; since: number }
    return after === undefined
      ? this.#sql.exec<Row>(SHARED_SQL, limit).toArray()
      : this.#sql.exec<Row>(SHARED_AFTER_SQL, after.since, after.owner, after.id, limit).toArray()
  }
}
