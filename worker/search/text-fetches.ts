/**
 * text-fetches.ts: the sessions whose text the user's directory must still fetch, and the times at which failed
 * attempts are retried.
 */

/** `at`: the time of the next attempt, in milliseconds since 1970. */
export const TEXT_FETCH_TABLE = `
  CREATE TABLE text_fetch (session TEXT PRIMARY KEY, failures INTEGER NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX text_fetch_at ON text_fetch (at)`

/** The pause after the first failure, in milliseconds. It doubles with each further failure. */
const RETRY_MS = 10_000
/**
 * After this many failures, 10 minutes after the first one, a session is not fetched again until its next turn. Until
 * then, a search finds only what is already indexed.
 */
const MAX_FAILURES = 7

/** Hidden sessions (`shelf` from 2 on) are not fetched until they are restored. */
const WANTED = "FROM sessions s WHERE s.indexed = 0 AND s.shelf < 2"
const FIND_NEW_SQL = `SELECT s.id ${WANTED} AND NOT EXISTS (SELECT 1 FROM text_fetch f WHERE f.session = s.id)
  ORDER BY s.active DESC LIMIT 1`
const FIND_FAILED_SQL = `SELECT f.session AS id, f.at FROM text_fetch f CROSS JOIN sessions s ON s.id = f.session
  WHERE s.indexed = 0 AND s.shelf < 2 ORDER BY f.at LIMIT 1`

export class TextFetches {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  /**
   * Returns the session to fetch now; null if there is none. Sessions whose fetch has never failed come first, the most
   * recently used ones before the others.
   */
  findNext(now: number): string | null {
    const found = this.#findNew()
    if (found !== null) return found
    const failed = this.#findFailed()
    return failed !== null && failed.at <= now ? failed.id : null
  }

  /**
   * Returns when the next fetch is due, in milliseconds since 1970: 0 if it is due at once, Infinity if no fetch is
   * due.
   */
  nextAt(): number {
    return this.#findNew() === null ? (this.#findFailed()?.at ?? Infinity) : 0
  }

  /** Records a failed attempt. After MAX_FAILURES, the session is treated as fetched. */
  recordFailure(session: string, now: number): void {
    const query = "SELECT failures FROM text_fetch WHERE session = ?"
    const failures = (this.#sql.exec<{ failures: number }>(query, session).toArray()[0]?.failures ?? 0) + 1
    if (failures >= MAX_FAILURES) {
      this.forget(session)
      this.#sql.exec("UPDATE sessions SET indexed = 1 WHERE id = ?", session)
      return
    }
    const at = now + RETRY_MS * 2 ** (failures - 1)
    this.#sql.exec("INSERT OR REPLACE INTO text_fetch (session, failures, at) VALUES (?, ?, ?)", session, failures, at)
  }

  /** Removes the failures of a session. Call this after a successful attempt, and when the session is removed. */
  forget(session: string): void {
    this.#sql.exec("DELETE FROM text_fetch WHERE session = ?", session)
  }

  #findNew(): string | null {
    return this.#sql.exec<{ id: string }>(FIND_NEW_SQL).toArray()[0]?.id ?? null
  }

  #findFailed(): { readonly id: string; readonly at: number } | null {
    return this.#sql.exec<{ id: string; at: number }>(FIND_FAILED_SQL).toArray()[0] ?? null
  }
}
