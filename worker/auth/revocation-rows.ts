/**
 * revocation-rows.ts: the rows of one user's revocations, and of the sessions that have to know of them.
 *
 * A *holder* is a session that may have sockets of this user. It has been told the revocations up to its `told`.
 * Rows go when the tokens that they speak of have run out.
 */

import { CLOCK_TOLERANCE_SECONDS, type Claims } from "./verify-token.ts"
import type { RevocationState } from "./revocation.ts"

export const REVOCATION_TABLES = `
  CREATE TABLE revoked (
    n INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again, since holders remember it
    token TEXT,                          -- null: every token issued up to \`issued\`
    issued REAL NOT NULL,
    expires REAL);                       -- null: never
  CREATE TABLE holder (
    session TEXT PRIMARY KEY, tenant TEXT NOT NULL, user TEXT NOT NULL,
    until REAL NOT NULL,                 -- when the last token of its sockets runs out
    told INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX holder_until ON holder (until)`

export interface SocketHolder {
  readonly session: string
  readonly tenant: string
  readonly user: string
}

export type RevocationRows = ReturnType<typeof createRevocationRows>

/** Times are seconds since 1970. */
export function createRevocationRows(sql: SqlStorage) {
  const queryRows = <T extends Record<string, SqlStorageValue>>(query: string, ...values: SqlStorageValue[]): T[] =>
    sql.exec<T>(query, ...values).toArray()

  return {
    readRevocationState(now: number): RevocationState {
      const rows = queryRows<{ n: number; token: string | null; issued: number }>(
        "SELECT n, token, issued FROM revoked WHERE expires IS NULL OR expires > ? ORDER BY n",
        now,
      )
      return {
        n: rows.at(-1)?.n ?? 0,
        tokens: rows.flatMap(({ token }) => token ?? []),
        upTo: rows.find(({ token }) => token === null)?.issued ?? null,
      }
    },

    revokeToken(token: string, { issued, expires }: Claims): void {
      // As long as the Worker would still take the token.
      const until = expires + CLOCK_TOLERANCE_SECONDS
      queryRows("INSERT INTO revoked (token, issued, expires) VALUES (?, ?, ?)", token, issued, until)
    },

    /** What was revoked before is in it, and need not be known any more. */
    revokeAll(upTo: number): void {
      queryRows("DELETE FROM revoked WHERE issued <= ?", upTo)
      queryRows("INSERT INTO revoked (token, issued, expires) VALUES (NULL, ?, NULL)", upTo)
    },

    /** A session that is new here knows of no socket that was revoked before. */
    addHolder(session: string, { tenant, user, expires }: Claims, notifiedUpTo: number): void {
      queryRows(
        `INSERT INTO holder (session, tenant, user, until, told) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (session) DO UPDATE SET until = excluded.until WHERE excluded.until > holder.until`,
        ...[session, tenant, user, expires, notifiedUpTo],
      )
    },

    /** Holders that do not know the newest revocations. */
    listUnnotifiedHolders(n: number): SocketHolder[] {
      return queryRows<{ session: string; tenant: string; user: string }>(
        "SELECT session, tenant, user FROM holder WHERE told < ?",
        n,
      )
    },

    markNotified(session: string, n: number): void {
      queryRows("UPDATE holder SET told = ? WHERE session = ? AND told < ?", n, session, n)
    },

    /** It is no more, and its sockets are closed. */
    removeHolder(session: string): void {
      queryRows("DELETE FROM holder WHERE session = ?", session)
    },

    pruneExpired(now: number): void {
      queryRows("DELETE FROM revoked WHERE expires <= ?", now)
      queryRows("DELETE FROM holder WHERE until <= ?", now)
    },

    /** When the next revocation may be forgotten. */
    findNextExpiry(): number | null {
      return queryRows<{ at: number | null }>("SELECT min(expires) AS at FROM revoked")[0]?.at ?? null
    },
  }
}
