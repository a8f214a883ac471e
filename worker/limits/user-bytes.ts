/**
 * user-bytes.ts: counts the stored bytes of a user's sessions in the user's directory, and reports them to the tenant.
 *
 * session-bytes.ts → USER → tenant-bytes.ts
 * The sum is reported to the tenant's object only when it has changed by TENANT_STEP_BYTES, so for each user the
 * tenant's total is off by less than that.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import { MAX_USER_STORED_BYTES, TENANT_STEP_BYTES } from "../../shared/user-limits.ts"
import type { Env } from "../env.ts"
import { describeError, logError } from "../platform/log.ts"
import type { BytesReport } from "../platform/rpc/directory-rpc.ts"
import { parseUserKey, tenantStub } from "../platform/rpc/object-stubs.ts"

export const USER_BYTES_TABLES = `
  CREATE TABLE session_bytes (
    session TEXT PRIMARY KEY, bytes INTEGER NOT NULL,
    n INTEGER NOT NULL) WITHOUT ROWID;         -- the newest report that was applied
  CREATE TABLE user_bytes (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    bytes INTEGER NOT NULL DEFAULT 0,          -- the sum over session_bytes
    told INTEGER NOT NULL DEFAULT 0,           -- what the tenant has applied
    n INTEGER NOT NULL DEFAULT 0)`

export interface UserBytesDeps {
  readonly sql: SqlStorage
  /** Reports the user's sum to the tenant. Errors: `tenant_storage_full`, unless the report is required. */
  readonly tellTenant: (bytes: number, n: number, isRequired: boolean) => Promise<Result<number>>
  /** Whether the user's budgets allow this sum. */
  readonly checkBudget: (bytes: number) => Result<null>
  readonly now: () => number
}

export function createUserBytes(
  { id, storage }: DurableObjectState,
  env: Env,
  checkBudget: UserBytesDeps["checkBudget"],
): UserBytes {
  const { tenant, user } = parseUserKey(id.name)
  const tellTenant: UserBytesDeps["tellTenant"] = async (bytes, n, isRequired) =>
    await tenantStub(env, tenant).tellUserBytes({ user, bytes, n, isRequired })
  return new UserBytes({ sql: storage.sql, tellTenant, checkBudget, now: Date.now })
}

export class UserBytes {
  readonly #deps: UserBytesDeps
  #pending: Promise<unknown> = Promise.resolve()

  constructor(deps: UserBytesDeps) {
    this.#deps = deps
  }

  /** Returns the number of bytes that all sessions of the user store. */
  count(): number {
    return this.#read().bytes
  }

  /** Checks whether this many more bytes may be stored. Errors: `storage_full`, budget errors. */
  check(more: number, max = MAX_USER_STORED_BYTES): Result<null> {
    const bytes = this.count() + more
    if (bytes > max) return fail({ reason: "storage_full", max })
    return this.#deps.checkBudget(bytes)
  }

  /**
   * Applies a report, unless a newer one was already applied. Growth that exceeds a limit is refused, unless the report
   * is required. Returns the number of the newest applied report.
   *
   * Errors: `storage_full`, `tenant_storage_full`, budget errors.
   */
  async apply({ session, bytes, n, isRequired }: BytesReport): Promise<Result<number>> {
    return await this.#enqueue(async () => {
      const [known] = this.#deps.sql
        .exec<{ bytes: number; n: number }>("SELECT bytes, n FROM session_bytes WHERE session = ?", session)
        .toArray()
      if (known !== undefined && known.n >= n) return succeed(known.n)
      const more = bytes - (known?.bytes ?? 0)
      const isGrowth = more > 0 && !isRequired
      const admitted = isGrowth ? this.check(more) : succeed(null)
      if (!admitted.ok) return admitted
      const reported = await this.#reportToTenant(this.count() + more, !isGrowth)
      if (!reported.ok) return reported
      this.#write(session, bytes, n, more)
      return succeed(n)
    })
  }

  /** Removes a session that is being erased. */
  async remove(session: string): Promise<void> {
    await this.#enqueue(async () => {
      const query = "SELECT bytes FROM session_bytes WHERE session = ?"
      const [known] = this.#deps.sql.exec<{ bytes: number }>(query, session).toArray()
      if (known === undefined) return
      this.#deps.sql.exec("DELETE FROM session_bytes WHERE session = ?", session)
      this.#add(-known.bytes)
      await this.#reportToTenant(this.count(), true)
    })
  }

  /** Applies one report at a time, even while a report is waiting for the tenant. */
  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#pending.then(work)
    this.#pending = done.catch(() => {})
    return done
  }

  /**
   * Reports the sum to the tenant if it has changed enough. A required report that fails is retried with the next
   * change.
   */
  async #reportToTenant(bytes: number, isRequired: boolean): Promise<Result<null>> {
    const { told, n } = this.#read()
    if (Math.abs(bytes - told) < TENANT_STEP_BYTES) return succeed(null)
    try {
      const next = Math.max(this.#deps.now(), n + 1)
      const applied = await this.#deps.tellTenant(bytes, next, isRequired)
      if (!applied.ok) return applied
      const isApplied = applied.value === next
      this.#deps.sql.exec(
        `INSERT INTO user_bytes (one, told, n) VALUES (1, ?1, ?2)
         ON CONFLICT (one) DO UPDATE SET told = ?1, n = ?2`,
        isApplied ? bytes : told,
        applied.value,
      )
      return succeed(null)
    } catch (error) {
      if (!isRequired) throw error
      logError("user_bytes_not_told", { error: describeError(error) })
      return succeed(null)
    }
  }

  #write(session: string, bytes: number, n: number, more: number): void {
    this.#deps.sql.exec("INSERT OR REPLACE INTO session_bytes (session, bytes, n) VALUES (?, ?, ?)", session, bytes, n)
    this.#add(more)
  }

  #add(more: number): void {
    this.#deps.sql.exec(
      "INSERT INTO user_bytes (one, bytes) VALUES (1, ?1) ON CONFLICT (one) DO UPDATE SET bytes = bytes + ?1",
      more,
    )
  }

  #read(): { readonly bytes: number; readonly told: number; readonly n: number } {
    const query = "SELECT bytes, told, n FROM user_bytes"
    const [row] = this.#deps.sql.exec<{ bytes: number; told: number; n: number }>(query).toArray()
    return row ?? { bytes: 0, told: 0, n: 0 }
  }
}
