/**
 * user-rows.ts: the SQL rows of a tenant's users: one row per user, written at the first contact.
 */

import type { NewUser, TenantUser } from "../settings/tenant-rpc.ts"
import type { Role } from "../platform/rpc/claims.ts"

export const USER_TABLE = `
  CREATE TABLE users (
    id TEXT PRIMARY KEY, name TEXT,
    role TEXT NOT NULL, issuer TEXT,
    status TEXT NOT NULL DEFAULT 'active',
    created INTEGER NOT NULL) WITHOUT ROWID`

type UserRow = { id: string; name: string | null; role: string; issuer: string | null; status: string; created: number }

export class UserRows {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  /** Adds a user, unless there is one of this id. Returns the stored user. Cost: at most one row written. */
  register({ id, name, role, issuer }: NewUser, now: number): TenantUser {
    const known = this.find(id)
    if (known !== null) return known
    this.#sql.exec(
      "INSERT INTO users (id, name, role, issuer, created) VALUES (?, ?, ?, ?, ?)",
      id,
      name ?? null,
      role ?? "member",
      issuer ?? null,
      now,
    )
    return { id, name: name ?? null, role: role ?? "member", issuer: issuer ?? null, status: "active", created: now }
  }

  find(id: string): TenantUser | null {
    const [row] = this.#sql.exec<UserRow>("SELECT * FROM users WHERE id = ?", id).toArray()
    return row === undefined ? null : toUser(row)
  }
}

/** Only `register` and the methods that change a user write rows. */
function toUser(row: UserRow): TenantUser {
  return { ...row, role: row.role as Role, status: row.status as TenantUser["status"] }
}
