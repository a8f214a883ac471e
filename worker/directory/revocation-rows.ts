/**
 * revocation-rows.ts: the SQL rows of one user's revocations, and of the sessions that must be notified of them.
 *
 * A *holder* is a session that may hold sockets of this user. The column `told` contains the newest revocation that the
 * holder was notified of. Rows are deleted when their tokens have expired. Times are seconds since 1970.
 */

import type { Claims } from "../platform/rpc/claims.ts"
import type { RevocationState } from "../platform/rpc/directory-rpc.ts"
import { CLOCK_TOLERANCE_SECONDS } from "../auth/verify-token.ts"

export const REVOCATION_TABLES = `
  CREATE TABLE revoked (
    n INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused, since holders refer to it
    token TEXT,                          -- a jti or the id of a sign-in; null: every token issued up to \`issued\`
    issued REAL NOT NULL,
    expires REAL);                       -- null: never
  CREATE TABLE holder (
    session TEXT PRIMARY KEY, tenant TEXT NOT NULL, user TEXT NOT NULL,
    until REAL NOT NULL,                 -- when the last token of its sockets expires
    told INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX holder_until ON holder (until)`

/** Adds the column for the number of the user's open sockets that the session last reported. */
export const HOLDER_SOCKETS = "ALTER TABLE holder ADD COLUMN sockets INTEGER NOT NULL DEFAULT 0"

/** A session that may hold sockets of the user. */
export interface SocketHolder {
  readonly session: string
  readonly tenant: string
  readonly user: string
}

export class RevocationRows {
  readonly #sql: SqlStorage
  /**
   * The newest revocation that every holder has been notified of. A new holder doesn't lower this number, because it
   * has no sockets of tokens that were revoked earlier.
   */
  #allNotifiedUpTo = 0

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  readRevocationState(now: number): RevocationState {
    const rows = this.#query<{ n: number; token: string | null; issued: number }>(
      "SELECT n, token, issued FROM revoked WHERE expires IS NULL OR expires > ? ORDER BY n",
      now,
    )
    return {
      n: rows.at(-1)?.n ?? 0,
      tokens: rows.flatMap(({ token }) => token ?? []),
      upTo: rows.find(({ token }) => token === null)?.issued ?? null,
    }
  }

  revokeToken(token: string, { issued, expires }: Claims): void {
    // The row is kept for as long as the Worker would accept the token.
    const until = expires + CLOCK_TOLERANCE_SECONDS
    this.#query("INSERT INTO revoked (token, issued, expires) VALUES (?, ?, ?)", token, issued, until)
  }

  /** Revokes the tokens of a sign-in. `until`: when the last of them expires. */
  revokeLogin(login: string, now: number, until: number): void {
    this.#query("INSERT INTO revoked (token, issued, expires) VALUES (?, ?, ?)", login, now, until)
  }

  /** Revokes every token issued up to a time. This covers earlier individual revocations, so their rows are deleted. */
  revokeAll(upTo: number): void {
    this.#query("DELETE FROM revoked WHERE issued <= ?", upTo)
    this.#query("INSERT INTO revoked (token, issued, expires) VALUES (NULL, ?, NULL)", upTo)
  }

  /**
   * Adds or updates a holder. A new holder has no sockets of tokens that were revoked earlier, so it is treated as
   * notified up to `notifiedUpTo`. `sockets`: the number of the user's open sockets in the session, including the one
   * that is being opened.
   */
  addHolder(session: string, { tenant, user, expires }: Claims, notifiedUpTo: number, sockets: number): void {
    this.#query(
      `INSERT INTO holder (session, tenant, user, until, told, sockets) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (session) DO UPDATE SET until = max(until, excluded.until), sockets = excluded.sockets
       WHERE excluded.until > holder.until OR excluded.sockets <> holder.sockets`,
      session,
      tenant,
      user,
      expires,
      notifiedUpTo,
      sockets,
    )
  }

  /**
   * Returns the number of open sockets that the other sessions reported. Reads all sessions with valid tokens of the
   * user. An index of sessions with open sockets would read fewer rows, but would write one more row per socket, which
   * is a sixth of the cost of an idle tab.
   */
  sumSockets(exceptSession: string, now: number): number {
    const query = "SELECT coalesce(sum(sockets), 0) AS n FROM holder WHERE until > ? AND session <> ?"
    return this.#query<{ n: number }>(query, now, exceptSession)[0]?.n ?? 0
  }

  /** Returns the sessions that reported open sockets. */
  listSocketHolders(): string[] {
    return this.#query<{ session: string }>("SELECT session FROM holder WHERE sockets > 0").map(
      ({ session }) => session,
    )
  }

  setSockets(session: string, sockets: number): void {
    this.#query("UPDATE holder SET sockets = ?1 WHERE session = ?2 AND sockets <> ?1", sockets, session)
  }

  /** Returns the holders that have not been notified of revocation `n` yet. */
  listUnnotifiedHolders(n: number): SocketHolder[] {
    if (n <= this.#allNotifiedUpTo) return []
    const holders = this.#query<{ session: string; tenant: string; user: string }>(
      "SELECT session, tenant, user FROM holder WHERE told < ?",
      n,
    )
    if (holders.length === 0) this.#allNotifiedUpTo = n
    return holders
  }

  /**
   * Clears the state in memory. Call this when the tables are deleted, because the numbering of revocations then starts
   * over.
   */
  forget(): void {
    this.#allNotifiedUpTo = 0
  }

  /** Returns the sessions that may hold sockets of the user. */
  listHolders(): string[] {
    return this.#query<{ session: string }>("SELECT session FROM holder").map(({ session }) => session)
  }

  markNotified(session: string, n: number): void {
    this.#query("UPDATE holder SET told = ? WHERE session = ? AND told < ?", n, session, n)
  }

  /** Removes a session that was erased. Its sockets are already closed. */
  removeHolder(session: string): void {
    this.#query("DELETE FROM holder WHERE session = ?", session)
  }

  pruneExpired(now: number): void {
    this.#query("DELETE FROM revoked WHERE expires <= ?", now)
    this.#query("DELETE FROM holder WHERE until <= ?", now)
  }

  /** Returns when the next revocation expires; null if none does. */
  findNextExpiry(): number | null {
    return this.#query<{ at: number | null }>("SELECT min(expires) AS at FROM revoked")[0]?.at ?? null
  }

  #query<T extends Record<string, SqlStorageValue>>(query: string, ...values: SqlStorageValue[]): T[] {
    return this.#sql.exec<T>(query, ...values).toArray()
  }
}
