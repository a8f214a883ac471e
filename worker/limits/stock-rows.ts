/**
 * stock-rows.ts: the SQL row in which a user's directory counts the user's sessions.
 *
 * The row is written together with the rows that it counts, so it stays exact even if the process is killed.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import { MAX_USER_SESSIONS } from "../../shared/user-limits.ts"

/** Creates the row with the number of sessions already listed. An erased user has no row, which counts as zero. */
export const STOCK_TABLE = `
  CREATE TABLE stock (one INTEGER PRIMARY KEY CHECK (one = 1), sessions INTEGER NOT NULL DEFAULT 0);
  INSERT INTO stock (one, sessions) SELECT 1, count(*) FROM sessions`

export class StockRows {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  /** Checks whether one more session may be listed. Errors: `sessions_full`. */
  checkSessions(max = MAX_USER_SESSIONS): Result<null> {
    return this.countSessions() < max ? succeed(null) : fail({ reason: "sessions_full", max })
  }

  countSessions(): number {
    const [row] = this.#sql.exec<{ sessions: number }>("SELECT sessions FROM stock").toArray()
    return row?.sessions ?? 0
  }

  /** Records that sessions were listed (1) or removed (-1). */
  addSessions(change: 1 | -1): void {
    this.#sql.exec(
      "INSERT INTO stock (one, sessions) VALUES (1, max(?1, 0)) ON CONFLICT (one) DO UPDATE SET sessions = max(sessions + ?1, 0)",
      change,
    )
  }
}
