/** tenant-bytes.ts: the SQL rows in which a tenant's object counts the stored bytes of its users. */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import { MAX_TENANT_STORED_BYTES } from "../../shared/user-limits.ts"

export const TENANT_BYTES_TABLES = `
  CREATE TABLE user_bytes (user TEXT PRIMARY KEY, bytes INTEGER NOT NULL, n INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE tenant_bytes (one INTEGER PRIMARY KEY CHECK (one = 1), bytes INTEGER NOT NULL)`

export class TenantBytes {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  /** Returns the number of stored bytes of all users, as reported by their directories. */
  count(): number {
    const [row] = this.#sql.exec<{ bytes: number }>("SELECT bytes FROM tenant_bytes").toArray()
    return row?.bytes ?? 0
  }

  /**
   * Applies a report from a user's directory, unless a newer one was already applied. Returns the number of the newest
   * applied report. Errors: `tenant_storage_full`, unless the report is required.
   */
  apply(user: string, bytes: number, n: number, isRequired: boolean, max = MAX_TENANT_STORED_BYTES): Result<number> {
    const known = this.#find(user)
    if (known.n >= n) return succeed(known.n)
    const more = bytes - known.bytes
    if (!isRequired && more > 0 && this.count() + more > max) return fail({ reason: "tenant_storage_full" })
    this.#sql.exec("INSERT OR REPLACE INTO user_bytes (user, bytes, n) VALUES (?, ?, ?)", user, bytes, n)
    this.#add(more)
    return succeed(n)
  }

  /** Removes the row of a user who is being erased. */
  removeUser(user: string): void {
    const { bytes } = this.#find(user)
    if (bytes !== 0) this.#add(-bytes)
    this.#sql.exec("DELETE FROM user_bytes WHERE user = ?", user)
  }

  #find(user: string): { readonly bytes: number; readonly n: number } {
    const query = "SELECT bytes, n FROM user_bytes WHERE user = ?"
    const [row] = this.#sql.exec<{ bytes: number; n: number }>(query, user).toArray()
    return row ?? { bytes: 0, n: 0 }
  }

  #add(more: number): void {
    this.#sql.exec(
      "INSERT INTO tenant_bytes (one, bytes) VALUES (1, ?1) ON CONFLICT (one) DO UPDATE SET bytes = bytes + ?1",
      more,
    )
  }
}
