/**
 * remote-fetches.ts: the SQL row in which a user's directory counts the files that are fetched from other hosts for the
 * user.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import { MAX_REMOTE_FETCHES, REMOTE_WINDOW_MS } from "../../shared/user-limits.ts"

export const REMOTE_FETCH_TABLE = `
  CREATE TABLE remote_fetches (
    one INTEGER PRIMARY KEY CHECK (one = 1), since INTEGER NOT NULL, fetches INTEGER NOT NULL)`

export class RemoteFetches {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  /** Counts a fetch. Errors: `remote_limited`. Cost: one row, unless the fetch is refused. */
  count(now: number, max = MAX_REMOTE_FETCHES): Result<null> {
    const query = "SELECT since, fetches FROM remote_fetches"
    const [known] = this.#sql.exec<{ since: number; fetches: number }>(query).toArray()
    // If the clock was set back, a new window begins.
    const isCurrent = known !== undefined && now >= known.since && now < known.since + REMOTE_WINDOW_MS
    const { since, fetches } = isCurrent ? known : { since: now, fetches: 0 }
    if (fetches >= max) {
      const retryAfterSeconds = Math.ceil((since + REMOTE_WINDOW_MS - now) / 1000)
      return fail({ reason: "remote_limited", max, retryAfterSeconds })
    }
    this.#sql.exec("INSERT OR REPLACE INTO remote_fetches (one, since, fetches) VALUES (1, ?, ?)", since, fetches + 1)
    return succeed(null)
  }
}
