/**
 * token-key-rows.ts: the SQL rows of a tenant's token keys. They record which generations are accepted; the keys
 * themselves are derived from the deployment's secret. A tenant without rows has generation 1.
 */

import type { TokenKeyInfo } from "../../settings/tenant-access.ts"

export const TOKEN_KEY_TABLE = `
  CREATE TABLE token_keys (
    generation INTEGER PRIMARY KEY,
    created INTEGER,                 -- milliseconds since 1970; null: generation 1
    retires INTEGER)                 -- when it is no longer accepted; null: the newest`

/** The token keys of a tenant that never rotated them. */
export const FIRST_TOKEN_KEYS: readonly TokenKeyInfo[] = [{ generation: 1, created: null, retires: null }]

type TokenKeyRow = { generation: number; created: number | null; retires: number | null }

export class TokenKeyRows {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  /**
   * Returns the accepted generations, newest first. They have no gaps, because an older one never outlives a newer one.
   */
  listAccepted(now: number): TokenKeyInfo[] {
    const rows = this.#sql
      .exec<TokenKeyRow>("SELECT * FROM token_keys WHERE retires IS NULL OR retires > ? ORDER BY generation DESC", now)
      .toArray()
    return rows.length === 0 ? [...FIRST_TOKEN_KEYS] : rows
  }

  /** Returns when the next generation retires, in milliseconds since 1970; null if none does. */
  findNextRetirement(): number | null {
    return this.#sql.exec<{ at: number | null }>("SELECT min(retires) AS at FROM token_keys").one().at
  }

  /** Deletes the generations that have retired, and returns the newest of them; null if there is none. */
  takeRetired(now: number): TokenKeyInfo | null {
    const sql = "DELETE FROM token_keys WHERE retires <= ? RETURNING *"
    const retired = this.#sql.exec<TokenKeyRow>(sql, now).toArray()
    return retired.sort((a, b) => b.generation - a.generation)[0] ?? null
  }

  /** Adds the next generation. All others retire no later than `retires`, and `takeRetired` then deletes them. */
  rotate(now: number, retires: number): void {
    const newest = this.listAccepted(now)[0]?.generation ?? 1
    if (newest === 1) this.#sql.exec("INSERT OR IGNORE INTO token_keys (generation) VALUES (1)")
    this.#sql.exec("UPDATE token_keys SET retires = min(coalesce(retires, ?1), ?1)", retires)
    this.#sql.exec("INSERT INTO token_keys (generation, created) VALUES (?, ?)", newest + 1, now)
  }
}
