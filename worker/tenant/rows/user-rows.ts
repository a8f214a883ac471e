/**
 * user-rows.ts: the SQL rows of a tenant's users: one row per user, written on first contact, and the users' search
 * keys.
 */

import type { NewUser, TenantUser } from "../../settings/tenant-rpc.ts"
import type { Role } from "../../platform/rpc/claims.ts"
import { listSearchKeys } from "./user-search-keys.ts"

export const USER_TABLE = `
  CREATE TABLE users (
    id TEXT PRIMARY KEY, name TEXT,
    role TEXT NOT NULL, issuer TEXT,
    status TEXT NOT NULL DEFAULT 'active',
    created INTEGER NOT NULL) WITHOUT ROWID;
  -- Finds the other owners without reading all users. Only active owners are in this index.
  CREATE INDEX users_owner ON users (id) WHERE role = 'owner' AND status = 'active'`

/** Lists one page of users. Reads only the rows that the page contains. */
export const LIST_USERS_SQL = "SELECT * FROM users WHERE id > ? AND id >= ? AND id < ? ORDER BY id LIMIT ?"

/** Number of users whose keys are written at a time. A user has at most nine keys, each with two rows. */
const USERS_PER_FILL = 500

/** A prefix followed by this character sorts after every id with that prefix, because no id contains the character. */
const AFTER_IDS = "\x7f"

type UserRow = { id: string; name: string | null; role: string; issuer: string | null; status: string; created: number }

export class UserRows {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  /**
   * Adds a user, unless the id exists. Returns the stored user. A role from an issuer replaces the stored role. Cost:
   * one row written, two more per search key of a new user, and none if nothing changes.
   */
  register(user: NewUser, now: number): TenantUser {
    const known = this.find(user.id)
    if (known !== null) return this.#followIssuer(known, user)
    const created = createUser(user, now)
    this.restore(created)
    return created
  }

  #followIssuer(known: TenantUser, { issuer, role }: NewUser): TenantUser {
    const isStated = issuer !== undefined && role !== undefined
    if (!isStated || (issuer === known.issuer && role === known.role)) return known
    this.#sql.exec("UPDATE users SET role = ?, issuer = ? WHERE id = ?", role, issuer, known.id)
    return { ...known, role, issuer }
  }

  /**
   * Adds a user of an imported tenant, unless the id exists. A user who was being erased in the exported tenant is
   * active here.
   */
  restore({ id, name, role, issuer, status, created }: TenantUser): void {
    const { rowsWritten } = this.#sql.exec(
      "INSERT OR IGNORE INTO users (id, name, role, issuer, status, created) VALUES (?, ?, ?, ?, ?, ?)",
      id,
      name,
      role,
      issuer,
      status === "erasing" ? "active" : status,
      created,
    )
    if (rowsWritten > 0) this.#putKeys(id, name)
  }

  remove(id: string): void {
    this.#sql.exec("DELETE FROM users WHERE id = ?", id)
    this.#removeKeys(id)
  }

  find(id: string): TenantUser | null {
    const [row] = this.#sql.exec<UserRow>("SELECT * FROM users WHERE id = ?", id).toArray()
    return row === undefined ? null : toUser(row)
  }

  /** Returns the users whose ids begin with `prefix` and follow the id `after`, by id. Cost: one row read per user. */
  list(after: string, prefix: string, limit: number): TenantUser[] {
    return this.#sql
      .exec<UserRow>(LIST_USERS_SQL, after, prefix, prefix + AFTER_IDS, limit)
      .toArray()
      .map(toUser)
  }

  /** Writes the fields of a user that can change. */
  update({ id, name, role, status }: TenantUser): void {
    if (this.find(id)?.name !== name) this.#putKeys(id, name)
    this.#sql.exec("UPDATE users SET name = ?, role = ?, status = ? WHERE id = ?", name, role, status, id)
  }

  /** Whether there may be users without keys. */
  lacksKeys(): boolean {
    return this.#sql.exec("SELECT 1 FROM user_key_fill").toArray().length > 0
  }

  /** Writes the keys of the next users who may have none. Call this in a transaction. */
  fillKeys(): void {
    const [fill] = this.#sql.exec<{ after: string }>("SELECT after FROM user_key_fill").toArray()
    if (fill === undefined) return
    const users = this.list(fill.after, "", USERS_PER_FILL)
    for (const { id, name } of users) this.#putKeys(id, name)
    const last = users.at(-1)
    if (last === undefined || users.length < USERS_PER_FILL) this.#sql.exec("DELETE FROM user_key_fill")
    else this.#sql.exec("UPDATE user_key_fill SET after = ?", last.id)
  }

  /**
   * Replaces the keys of a user. An earlier release, which had no search keys, may have removed a user without removing
   * the keys.
   */
  #putKeys(id: string, name: string | null): void {
    this.#removeKeys(id)
    for (const key of listSearchKeys(id, name))
      this.#sql.exec("INSERT INTO user_keys (user, key) VALUES (?, ?)", id, key)
  }

  #removeKeys(id: string): void {
    this.#sql.exec("DELETE FROM user_keys WHERE user = ?", id)
  }

  /** Whether the user is the only active owner of the tenant. */
  isLastOwner({ id, role, status }: TenantUser): boolean {
    if (role !== "owner" || status !== "active") return false
    const others = "SELECT 1 FROM users WHERE role = 'owner' AND status = 'active' AND id <> ? LIMIT 1"
    return this.#sql.exec(others, id).toArray().length === 0
  }
}

export function createUser({ id, name, role, issuer }: NewUser, created: number): TenantUser {
  return { id, name: name ?? null, role: role ?? "member", issuer: issuer ?? null, status: "active", created }
}

/** Converts a row. Only `register` and the methods that change a user write rows. */
function toUser(row: UserRow): TenantUser {
  return { ...row, role: row.role as Role, status: row.status as TenantUser["status"] }
}
