/**
 * login-rows.ts: the SQL rows of one user's sign-ins.
 *
 * A row contains hashes of the current and the previous secret. Each use replaces the secret, so a copied cookie is
 * detected once both the original and the copy have been used.
 */

import type { Login, LoginSecrets, NewLogin } from "../platform/rpc/directory-rpc.ts"
import { CLAIMED_ROLE_MS, LOGIN_IDLE_MS, LOGIN_MS, LOGIN_OVERLAP_MS } from "../../shared/limits.ts"

/**
 * Maximum number of a user's concurrent sign-ins on different devices and browsers. The least recently used sign-in
 * ends first. SPEC SI6.
 */
export const MAX_LOGINS = 50

export const LOGIN_TABLE = `
  CREATE TABLE logins (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL, previous TEXT,   -- SHA-256 of the secrets
    issuer TEXT NOT NULL, generation INTEGER NOT NULL,
    role TEXT,                           -- by the issuer's claim
    created INTEGER NOT NULL,            -- times in milliseconds since 1970
    used INTEGER NOT NULL) WITHOUT ROWID`

type LoginRow = {
  id: string
  hash: string
  previous: string | null
  issuer: string
  generation: number
  role: string | null
  created: number
  used: number
}

/** `copied`: the secret is too old, so somebody else has used a copy of it. `unknown`: there is no such sign-in. */
export type LoginUse = { readonly login: Login } | "unknown" | "copied"

export class LoginRows {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  has(id: string): boolean {
    return this.#query("SELECT 1 FROM logins WHERE id = ?", id).length > 0
  }

  /** Adds a sign-in. Returns the ids of the sign-ins that end because the user has too many. */
  add({ id, hash, issuer, generation, role }: NewLogin, now: number): string[] {
    this.#query(
      "INSERT INTO logins (id, hash, issuer, generation, role, created, used) VALUES (?, ?, ?, ?, ?, ?, ?)",
      id,
      hash,
      issuer,
      generation,
      role,
      now,
      now,
    )
    const sql =
      "DELETE FROM logins WHERE id IN (SELECT id FROM logins ORDER BY used DESC, id LIMIT -1 OFFSET ?) RETURNING id"
    return this.#query<{ id: string }>(sql, MAX_LOGINS).map((row) => row.id)
  }

  /** Checks a secret, and replaces it unless it was just replaced. Cost: one row read and written. */
  use(id: string, { presented, next }: LoginSecrets, now: number): LoginUse {
    const [row] = this.#query<LoginRow>("SELECT * FROM logins WHERE id = ?", id)
    if (row === undefined || isOver(row, now)) return "unknown"
    const login = { issuer: row.issuer, generation: row.generation, role: row.role as Login["role"] }
    if (row.hash === presented) {
      this.#query("UPDATE logins SET hash = ?, previous = ?, used = ? WHERE id = ?", next, presented, now, id)
      return { login }
    }
    // Another tab has just replaced the secret, or the response was lost. The next secret is derived from this one, so
    // both tabs get the same secret.
    const isOverlap = row.previous === presented && row.hash === next && now - row.used < LOGIN_OVERLAP_MS
    return isOverlap ? { login } : "copied"
  }

  /**
   * Classifies a secret: `current`, or `copied` if it is older than the previous one. Null if there is no such sign-in.
   */
  check(id: string, presented: string, now: number): "current" | "copied" | null {
    const [row] = this.#query<LoginRow>("SELECT * FROM logins WHERE id = ?", id)
    if (row === undefined || isOver(row, now)) return null
    return row.hash === presented || row.previous === presented ? "current" : "copied"
  }

  remove(id: string): boolean {
    return this.#query("DELETE FROM logins WHERE id = ? RETURNING id", id).length > 0
  }

  /** Removes all sign-ins and returns their ids. */
  removeAll(): string[] {
    return this.#query<{ id: string }>("DELETE FROM logins RETURNING id").map(({ id }) => id)
  }

  /** Deletes the sign-ins that have ended. */
  prune(now: number): void {
    this.#query("DELETE FROM logins WHERE used <= ? OR created <= ?", now - LOGIN_IDLE_MS, now - LOGIN_MS)
  }

  #query<T extends Record<string, SqlStorageValue>>(query: string, ...bindings: SqlStorageValue[]): T[] {
    return this.#sql.exec<T>(query, ...bindings).toArray()
  }
}

function isOver({ created, used, role }: LoginRow, now: number): boolean {
  return now - used >= LOGIN_IDLE_MS || now - created >= (role === null ? LOGIN_MS : CLAIMED_ROLE_MS)
}
