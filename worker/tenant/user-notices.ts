/**
 * user-notices.ts: notifies the directories of users who were suspended or restored, whose name or role has changed, or
 * who need new tokens.
 *
 * A notice is a row that is written with the change and deleted when the directory has applied it. The tenant's alarm
 * sends the remaining notices again, so that no change is lost if this process ends.
 */

import type { Env } from "../env.ts"
import { describeError, logError } from "../platform/log.ts"
import { directoryStub } from "../platform/rpc/object-stubs.ts"
import { withTimeout } from "../platform/timeout.ts"
import { FOREIGN_USER_PREFIX } from "../settings/issuer-config.ts"
import type { UserRows } from "./rows/user-rows.ts"

export const USER_NOTICE_TABLE = `
  CREATE TABLE user_notices (
    user TEXT PRIMARY KEY,
    version INTEGER NOT NULL,        -- the number of the change in the audit log
    retry INTEGER NOT NULL,
    up_to REAL) WITHOUT ROWID;       -- ends the tokens issued up to then, in seconds since 1970; null: all
  CREATE INDEX user_notices_retry ON user_notices (retry)`

/** Time limit for a directory's response, in milliseconds. After that, the directory is treated as not notified. */
const NOTICE_TIMEOUT_MS = 5_000

/** Delay before a failed notice is retried, in milliseconds. */
const NOTICE_RETRY_MS = 10_000

/** Maximum number of directories that are notified at the same time. */
const MAX_CONCURRENT_NOTICES = 20

const ADD_SQL = "INSERT INTO user_notices (user, version, retry, up_to)"

/**
 * A pending notice that revokes all tokens still revokes all of them, because the maximum of NULL and a number is NULL.
 */
const REPLACE_SQL = `ON CONFLICT (user) DO UPDATE SET
  version = excluded.version, retry = max(retry, excluded.retry), up_to = max(up_to, excluded.up_to)`

type NoticeRow = { readonly user: string; readonly version: number; readonly up_to: number | null }

export class UserNotices {
  readonly #sql: SqlStorage
  readonly #env: Env
  readonly #tenant: string
  readonly #users: UserRows

  constructor(sql: SqlStorage, env: Env, tenant: string, users: UserRows) {
    this.#sql = sql
    this.#env = env
    this.#tenant = tenant
    this.#users = users
  }

  /**
   * Adds a notice, which the caller sends. `upTo`: revokes only the tokens issued up to this time, in seconds since
   * 1970; 0 revokes none; null: revokes all. The notice replaces an older one for the same user, but still revokes the
   * tokens that the older one revokes.
   */
  add(user: string, version: number, now: number, upTo: number | null = null): void {
    this.#sql.exec(`${ADD_SQL} VALUES (?, ?, ?, ?) ${REPLACE_SQL}`, user, version, now + NOTICE_RETRY_MS, upTo)
  }

  /** Adds a notice that revokes all tokens and that the alarm sends at `at`. */
  addForAlarm(user: string, version: number, at: number): void {
    this.add(user, version, at - NOTICE_RETRY_MS)
  }

  /** Removes the notice of a user who was erased. */
  remove(user: string): void {
    this.#sql.exec("DELETE FROM user_notices WHERE user = ?", user)
  }

  /**
   * Adds a notice for every active user; the next alarms send them. `upTo`: revokes only the tokens issued up to this
   * time, in seconds since 1970. Cost: one row written per user.
   */
  addForAll(version: number, upTo: number | null, now: number): void {
    const sql = `${ADD_SQL} SELECT id, ?, ?, ? FROM users WHERE status = 'active' ${REPLACE_SQL}`
    this.#sql.exec(sql, version, now, upTo)
  }

  /**
   * Adds a notice for every active user of an issuer; the alarm sends them at `at`. `others` are the names of the
   * issuers whose users get no notice. Users whose row doesn't name an issuer get a notice if their id is derived from
   * an issuer: an administrator or an API key may have added the row before their first sign-in. Cost: reads all users.
   */
  addForIssuer(others: readonly string[], version: number, at: number): void {
    const sql = `${ADD_SQL} SELECT id, ?, ?, NULL FROM users
      WHERE status = 'active' AND iif(issuer IS NULL, substr(id, 1, ?) = ?, issuer NOT IN (SELECT value FROM json_each(?)))
      ${REPLACE_SQL}`
    const prefix = FOREIGN_USER_PREFIX
    this.#sql.exec(sql, version, at, prefix.length, prefix, JSON.stringify(others))
  }

  /** Sends the notice of one user, if there is one. Does not reject. */
  async send(user: string, now: number): Promise<void> {
    const [row] = this.#sql
      .exec<NoticeRow>("SELECT user, version, up_to FROM user_notices WHERE user = ?", user)
      .toArray()
    if (row !== undefined) await this.#deliver(row, now)
  }

  /** Sends the notices that are due. Does not reject. */
  async handleAlarm(now: number): Promise<void> {
    const due = "SELECT user, version, up_to FROM user_notices WHERE retry <= ? ORDER BY retry LIMIT ?"
    const rows = this.#sql.exec<NoticeRow>(due, now, MAX_CONCURRENT_NOTICES).toArray()
    await Promise.all(rows.map((row) => this.#deliver(row, now)))
  }

  /** Returns when the next notice is due, in milliseconds since 1970; null if there is none. */
  nextAlarmAt(): number | null {
    const [row] = this.#sql.exec<{ at: number | null }>("SELECT min(retry) AS at FROM user_notices").toArray()
    return row?.at ?? null
  }

  async #deliver({ user, version, up_to: upTo }: NoticeRow, now: number): Promise<void> {
    try {
      const { status, role = null } = this.#users.find(user) ?? {}
      const directory = directoryStub(this.#env, { tenant: this.#tenant, user })
      const applied = directory.applyUserState({ version, suspended: status === "suspended", role, upTo })
      await withTimeout(applied, NOTICE_TIMEOUT_MS, () => new Error(`no response within ${NOTICE_TIMEOUT_MS} ms`))
      this.#sql.exec("DELETE FROM user_notices WHERE user = ? AND version = ?", user, version)
    } catch (error) {
      logError("user_not_told", { user, error: describeError(error) })
      const retry = now + NOTICE_RETRY_MS
      this.#sql.exec("UPDATE user_notices SET retry = ? WHERE user = ? AND version = ?", retry, user, version)
    }
  }
}
