/** api-key-rows.ts: the SQL rows of a tenant's API keys. They hold hashes, never secrets. */

import type { Role } from "../platform/rpc/claims.ts"
import type { ApiKeyInfo, NewApiKey } from "../settings/tenant-access.ts"

export const API_KEY_TABLE = `
  CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL,              -- SHA-256 of the secret, in hexadecimal digits
    name TEXT NOT NULL,
    roles TEXT NOT NULL,             -- separated by commas
    created INTEGER NOT NULL,        -- all times: milliseconds since 1970
    expires INTEGER,
    used INTEGER,
    recorded INTEGER) WITHOUT ROWID  -- the last use that the audit log has`

type ApiKeyRow = {
  id: string
  hash: string
  name: string
  roles: string
  created: number
  expires: number | null
  used: number | null
  recorded: number | null
}

/** A key with what only the tenant object needs. */
export interface ApiKeyRecord extends ApiKeyInfo {
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

  add({ id, hash, name, roles, expires }: NewApiKey, now: number): void {
    this.#sql.exec(
      "INSERT INTO api_keys (id, hash, name, roles, created, expires) VALUES (?, ?, ?, ?, ?, ?)",
      id,
      hash,
      name,
      roles.join(","),
      now,
      expires,
    )
  }

  remove(id: string): void {
    this.#sql.exec("DELETE FROM api_keys WHERE id = ?", id)
  }

  removeExpired(now: number): void {
    this.#sql.exec("DELETE FROM api_keys WHERE expires <= ?", now)
  }

  setExpiry(id: string, expires: number): void {
    this.#sql.exec("UPDATE api_keys SET expires = ? WHERE id = ?", expires, id)
  }

  /** Cost: one row written. `recorded`: the audit log has this use too. */
  recordUse(id: string, now: number, recorded: boolean): void {
    const recordedAt = recorded ? now : null
    this.#sql.exec("UPDATE api_keys SET used = ?, recorded = coalesce(?, recorded) WHERE id = ?", now, recordedAt, id)
  }

  #query(query: string, ...values: SqlStorageValue[]): ApiKeyRecord[] {
    // Only `add` writes roles.
    const toRecord = (row: ApiKeyRow): ApiKeyRecord => ({ ...row, roles: row.roles.split(",") as Role[] })
    return this.#sql
      .exec<ApiKeyRow>(query, ...values)
      .toArray()
      .map(toRecord)
  }
}
