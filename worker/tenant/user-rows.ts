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
  register(user: NewUser, now: number): TenantUser {
    const known = this.find(user.id)
    if (known !== null) return known
    const created = createUser(user, now)
    this.restore(created)
    return created
  }

  /** By id, from the beginning or after an id. */
  listAfter(after: string | null, limit: number): TenantUser[] {
    const query = "SELECT * FROM users WHERE id > ? ORDER BY id LIMIT ?"
    return this.#sql
      .exec<UserRow>(query, after ?? "", limit)
      .toArray()
      .map(toUser)
  }

  /** Owners that are not being erased. */
  countOwners(): number {
    const query = "SELECT count(*) AS n FROM users WHERE role = 'owner' AND status = 'active'"
    return this.#sql.exec<{ n: number }>(query).one().n
  }

  /** Adds a user of an imported tenant, unless there is one of this id. One that was being erased there is active here. */
  restore({ id, name, role, issuer, status, created }: TenantUser): void {
    this.#sql.exec(
      "INSERT OR IGNORE INTO users (id, name, role, issuer, status, created) VALUES (?, ?, ?, ?, ?, ?)",
      ...[id, name, role, issuer, status === "erasing" ? "active" : status, created],
    )
  }

  markErasing(id: string): void {
    this.#sql.exec("UPDATE users SET status = 'erasing' WHERE id = ?", id)
  }

  remove(id: string): void {
    this.#sql.exec("DELETE FROM users WHERE id = ?", id)
  }

  find(id: string): TenantUser | null {
    const [row] = this.#sql.exec<UserRow>("SELECT * FROM users WHERE id = ?", id).toArray()
    return row === undefined ? null : toUser(row)
  }
}

export function createUser({ id, name, role, issuer }: NewUser, created: number): TenantUser {
  return { id, name: name ?? null, role: role ?? "member", issuer: issuer ?? null, status: "active", created }
}

/** Only `register` and the methods that change a user write rows. */
function toUser(row: UserRow): TenantUser {
  return { ...row, role: row.role as Role, status: row.status as TenantUser["status"] }
}
