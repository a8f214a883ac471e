/**
 * account-rows.ts: the SQL row of a user in the directory, which records whether the tenant lists the user and whether
 * the user is suspended.
 */

import { includesRole, type Role } from "../platform/rpc/claims.ts"
import type { UserState } from "../platform/rpc/directory-rpc.ts"

export const ACCOUNT_TABLE = `
  CREATE TABLE account (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    registered INTEGER NOT NULL DEFAULT 0,  -- 1: the tenant has a row of this user; 2: the user was erased
    suspended INTEGER NOT NULL DEFAULT 0,
    version INTEGER NOT NULL DEFAULT 0,     -- the newest change by an administrator that was applied
    role TEXT)                              -- the role after it; null: unknown`

type AccountRow = { registered: number; suspended: number; version: number; role: string | null }

export class AccountRows {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  isRegistered(): boolean {
    return this.#read().registered === 1
  }

  /** Whether the user was erased and has not registered again since. */
  isErased(): boolean {
    return this.#read().registered === 2
  }

  setErased(): void {
    this.#sql.exec("INSERT OR REPLACE INTO account (one, registered) VALUES (1, 2)")
  }

  isSuspended(): boolean {
    return this.#read().suspended === 1
  }

  setRegistered(): void {
    this.#sql.exec("INSERT INTO account (one, registered) VALUES (1, 1) ON CONFLICT (one) DO UPDATE SET registered = 1")
  }

  /** Returns the version of the newest applied change by an administrator; 0 if there was none. */
  readVersion(): number {
    return this.#read().version
  }

  /** Whether a role is above the last role that an administrator set. */
  isAboveRole(role: Role): boolean {
    const stored = this.#read().role as Role | null
    return stored !== null && !includesRole(stored, role)
  }

  /**
   * Applies a change by an administrator, unless this change or a newer one was already applied, or the user was
   * erased. Returns whether the change was applied.
   */
  apply({ version, suspended, role }: UserState): boolean {
    if (this.isErased() || version <= this.#read().version) return false
    this.#sql.exec(
      `INSERT INTO account (one, registered, suspended, version, role) VALUES (1, 1, ?1, ?2, ?3)
       ON CONFLICT (one) DO UPDATE SET registered = 1, suspended = ?1, version = ?2, role = ?3`,
      suspended ? 1 : 0,
      version,
      role,
    )
    return true
  }

  #read(): AccountRow {
    const [row] = this.#sql.exec<AccountRow>("SELECT registered, suspended, version, role FROM account").toArray()
    return row ?? { registered: 0, suspended: 0, version: 0, role: null }
  }
}
