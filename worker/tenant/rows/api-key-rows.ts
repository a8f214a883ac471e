/** api-key-rows.ts: the SQL rows of a tenant's API keys. They contain hashes, never secrets. */

import type { Role } from "../../platform/rpc/claims.ts"
import type { ApiKeyInfo, NewApiKey } from "../../settings/tenant-access.ts"

export const API_KEY_TABLE = `
  CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL,              -- SHA-256 of the secret, in hexadecimal digits
    name TEXT NOT NULL,
    roles TEXT NOT NULL,             -- separated by commas
    created INTEGER NOT NULL,        -- all times: milliseconds since 1970
    expires INTEGER,
    used INTEGER,
    recorded INTEGER,                -- the last use that the audit log has
    created_by TEXT NOT NULL,        -- \`user:ada\`, \`key:a1\` or \`operator\`
    creator TEXT,                    -- the user who answers for the key; null: the operator
    creator_role TEXT NOT NULL,      -- the stored role of the creator then
    max_role TEXT NOT NULL) WITHOUT ROWID; -- the highest stored role of users for whom it makes tokens
  -- The users for whom the audit log records a token of a key on the current day.
  CREATE TABLE api_key_users (
    n INTEGER PRIMARY KEY, day INTEGER NOT NULL, key TEXT NOT NULL, user TEXT NOT NULL);
  CREATE UNIQUE INDEX api_key_users_user ON api_key_users (user, key)`

type ApiKeyRow = {
  id: string
  hash: string
  name: string
  roles: string
  created: number
  expires: number | null
  used: number | null
  recorded: number | null
  created_by: string
  creator: string | null
  creator_role: string
  max_role: string
}

/** The user who is responsible for a key. */
export interface KeyCreator {
  readonly created_by: string
  /** Null: the operator. */
  readonly creator: string | null
  /** The stored role of the creator when the key was made. */
  readonly creator_role: Role
  /** The highest stored role of the users for whom the key makes tokens. */
  readonly max_role: Role
}

/** A key with the fields that only the tenant object needs. */
export interface ApiKeyRecord extends ApiKeyInfo, KeyCreator {
  readonly hash: string
  readonly recorded: number | null
}

export class ApiKeyRows {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  list(): ApiKeyRecord[] {
    return this.#query("SELECT * FROM api_keys ORDER BY created, id")
  }

  find(id: string): ApiKeyRecord | null {
    return this.#query("SELECT * FROM api_keys WHERE id = ?", id)[0] ?? null
  }

  count(): number {
    return Number(this.#sql.exec("SELECT count(*) AS n FROM api_keys").one()["n"])
  }

  add({ id, hash, name, roles, expires }: NewApiKey, by: KeyCreator, now: number): void {
    this.#sql.exec(
      `INSERT INTO api_keys (id, hash, name, roles, created, expires, created_by, creator, creator_role, max_role)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      id,
      hash,
      name,
      roles.join(","),
      now,
      expires,
      by.created_by,
      by.creator,
      by.creator_role,
      by.max_role,
    )
  }

  remove(id: string): void {
    this.#sql.exec("DELETE FROM api_keys WHERE id = ?", id)
  }

  /** Removes the keys that a user is responsible for. Called when the user is erased. */
  removeUser(user: string): void {
    this.#sql.exec("DELETE FROM api_keys WHERE creator = ?", user)
    this.#sql.exec("DELETE FROM api_key_users WHERE user = ?", user)
  }

  removeExpired(now: number): void {
    this.#sql.exec("DELETE FROM api_keys WHERE expires <= ?", now)
  }

  setExpiry(id: string, expires: number): void {
    this.#sql.exec("UPDATE api_keys SET expires = ? WHERE id = ?", expires, id)
  }

  /** Records the last use of a key. `recorded`: this use is also in the audit log. Cost: one row written. */
  recordUse(id: string, now: number, recorded: boolean): void {
    const recordedAt = recorded ? now : null
    this.#sql.exec("UPDATE api_keys SET used = ?, recorded = coalesce(?, recorded) WHERE id = ?", now, recordedAt, id)
  }

  /**
   * Records that a key makes a token for a user. Returns the number of key and user pairs recorded on this day; null if
   * this pair was already recorded, or if `max` pairs were recorded and `isAlways` is false. Cost: at most two rows
   * read and one written. Once a day, the rows of the previous day are deleted.
   */
  noteToken(key: string, user: string, day: number, max: number, isAlways: boolean): number | null {
    const [newest] = this.#sql
      .exec<{ n: number; day: number }>("SELECT n, day FROM api_key_users ORDER BY n DESC LIMIT 1")
      .toArray()
    if (newest !== undefined && newest.day !== day) this.#sql.exec("DELETE FROM api_key_users")
    const count = newest?.day === day ? newest.n : 0
    if (count >= max && !isAlways) return null
    const sql = "INSERT OR IGNORE INTO api_key_users (day, key, user) VALUES (?, ?, ?) RETURNING n"
    return this.#sql.exec<{ n: number }>(sql, day, key, user).toArray()[0]?.n ?? null
  }

  #query(query: string, ...values: SqlStorageValue[]): ApiKeyRecord[] {
    // Only `add` writes roles.
    const toRecord = (row: ApiKeyRow): ApiKeyRecord => ({
      ...row,
      roles: row.roles.split(",") as Role[],
      creator_role: row.creator_role as Role,
      max_role: row.max_role as Role,
    })
    return this.#sql
      .exec<ApiKeyRow>(query, ...values)
      .toArray()
      .map(toRecord)
  }
}

export function hasExpired({ expires }: ApiKeyInfo, now: number): boolean {
  return expires !== null && expires <= now
}

/** Returns the fields of a key that administrators may see. */
export function toInfo({ id, name, roles, created, expires, used, created_by }: ApiKeyRecord): ApiKeyInfo {
  return { id, name, roles, created, expires, used, created_by }
}
