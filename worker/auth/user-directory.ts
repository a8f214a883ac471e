/**
 * user-directory.ts: the Durable Object of one user, named `tenant:user`: lists their sessions, and revokes their tokens.
 *
 * route → revoke → DIRECTORY → sessions that may hold sockets of this user
 * Whose a session is, the session itself knows. Until there is something to keep it stores nothing. Revocations are
 * pushed, so that no object has to stay awake to ask; what a session was not told, the alarm tells it.
 */

import { DurableObject } from "cloudflare:workers"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import type { SessionSummary } from "../../shared/protocol/frame.ts"
import type { Env } from "../env.ts"
import { isBegun, migrateTo } from "../platform/migrate.ts"
import { type Claims, userName } from "./verify-token.ts"
import { createLedger, LEDGER_TABLES, type Ledger } from "./revocation-rows.ts"
import { isCovered, isRevoked, NOTHING_REVOKED, type Revoked } from "./revocation.ts"
import { tellHolders } from "./revocation-push.ts"

/** Numbered by their place; each runs once. The index makes a list read the rows that it returns, and no others. */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS sessions (
     id TEXT PRIMARY KEY, title TEXT NOT NULL,
     created INTEGER NOT NULL, active INTEGER NOT NULL) WITHOUT ROWID;
   CREATE INDEX sessions_active ON sessions (active, created)`,
  LEDGER_TABLES,
  "ALTER TABLE sessions ADD COLUMN running INTEGER NOT NULL DEFAULT 0",
]

/** The newest activity first. */
export const LIST_SQL =
  "SELECT id, title, created, active, running FROM sessions ORDER BY active DESC, created DESC LIMIT ?"

/** What a session was not told is told again so often, in milliseconds. SPEC AU8. */
const RETELL_MS = 10_000

/** Tokens of one user that are revoked one by one; with one more, all are. Bounds what is handed around. SPEC AU9. */
export const MAX_REVOKED_TOKENS = 100

/** An alarm is not set further ahead, in milliseconds: a token may live for ever. */
const MAX_ALARM_MS = 30 * 24 * 60 * 60_000

/** What was revoked: this token, or all that were issued up to then (seconds since 1970). */
export type Revocation = { readonly revoked: "token" } | { readonly revoked: "all"; readonly up_to: number }

export function directoryOf(env: Env, who: Pick<Claims, "tenant" | "user">) {
  return env.DIRECTORY.getByName(userName(who))
}

export class Directory extends DurableObject<Env> {
  readonly #ledger: Ledger

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.#ledger = createLedger(ctx.storage.sql)
    if (isBegun(ctx.storage.sql)) migrateTo(ctx.storage, MIGRATIONS)
  }

  add(id: string, title: string, created: number): void {
    migrateTo(this.ctx.storage, MIGRATIONS)
    this.ctx.storage.sql.exec(
      "INSERT OR IGNORE INTO sessions (id, title, created, active) VALUES (?, ?, ?, ?)",
      ...[id, title, created, created],
    )
  }

  /** Something was said there, and perhaps it has a title now. A session that was never added is not listed. */
  touch(id: string, at: number, title?: string): void {
    if (!isBegun(this.ctx.storage.sql)) return
    this.ctx.storage.sql.exec(
      "UPDATE sessions SET active = max(active, ?), title = coalesce(?, title) WHERE id = ?",
      ...[at, title ?? null, id],
    )
  }

  /** The newest activity first. */
  list(limit: number): SessionSummary[] {
    if (!isBegun(this.ctx.storage.sql)) return []
    return this.ctx.storage.sql
      .exec<Omit<SessionSummary, "running"> & { running: number }>(LIST_SQL, limit)
      .toArray()
      .map((row) => ({ ...row, running: row.running === 1 }))
  }

  /** Something runs there now, or nothing does any more. Writes only what changes. */
  mark(id: string, running: boolean): void {
    if (!isBegun(this.ctx.storage.sql)) return
    const now = running ? 1 : 0
    this.ctx.storage.sql.exec("UPDATE sessions SET running = ? WHERE id = ? AND running <> ?", now, id, now)
  }

  /** A session is no more: neither is it listed nor told of revocations. False where it was not listed. */
  remove(id: string): boolean {
    const { sql } = this.ctx.storage
    if (!isBegun(sql)) return false
    this.#ledger.release(id)
    return sql.exec("DELETE FROM sessions WHERE id = ? RETURNING id", id).toArray().length > 0
  }

  /** Which of this user's tokens are revoked. */
  revoked(): Revoked {
    return isBegun(this.ctx.storage.sql) ? this.#ledger.revoked(nowSeconds()) : NOTHING_REVOKED
  }

  /**
   * A session asks whether this token may open a socket there. From now on, until the token has run out, it is told of
   * every revocation.
   */
  admit(claims: Claims, session: string): Result<null> {
    const revoked = this.revoked()
    if (isRevoked(claims, revoked)) return fail({ reason: "token_revoked" })
    migrateTo(this.ctx.storage, MIGRATIONS)
    this.#ledger.prune(nowSeconds())
    this.#ledger.hold(session, claims, revoked.n)
    return succeed(null)
  }

  /**
   * Revokes the token that asks, or all of its user. The same again changes nothing.
   *
   * Errors  `token_revoked` where a token that was revoked by itself asks for all others.
   */
  revoke(claims: Claims, wantsAll: boolean): Result<Revocation> {
    const revoked = this.revoked()
    const isFull = revoked.tokens.length >= MAX_REVOKED_TOKENS
    if (wantsAll || claims.token === null || (isFull && !isRevoked(claims, revoked))) {
      return this.#revokeAll(claims, revoked)
    }
    const { token } = claims
    if (!isRevoked(claims, revoked)) this.#write(revoked, () => this.#ledger.revokeOne(token, claims))
    return succeed({ revoked: "token" })
  }

  override async alarm(): Promise<void> {
    this.#ledger.prune(nowSeconds())
    await this.#tell()
    this.#setAlarm()
  }

  #revokeAll(claims: Claims, revoked: Revoked): Result<Revocation> {
    if (revoked.upTo !== null && isCovered(claims, revoked)) return succeed({ revoked: "all", up_to: revoked.upTo })
    // Whoever found a token that its owner gave up must not be able to shut the owner out.
    if (isRevoked(claims, revoked)) return fail({ reason: "token_revoked" })
    // The clock of whoever signed this very token may be ahead of ours.
    const upTo = Math.max(nowSeconds(), claims.issued)
    this.#write(revoked, () => this.#ledger.revokeAll(upTo))
    return succeed({ revoked: "all", up_to: upTo })
  }

  /** The alarm is set with the write: should this process end now, the sessions are still told. */
  #write(before: Revoked, write: () => void): void {
    migrateTo(this.ctx.storage, MIGRATIONS)
    // One that is set already stays: revoking again and again must not put it off.
    const isArmed = this.#ledger.untold(before.n).length > 0
    write()
    if (!isArmed) this.#setAlarm()
    this.ctx.waitUntil(this.#tellAtOnce())
  }

  async #tellAtOnce(): Promise<void> {
    await this.#tell()
    if (!this.#isUntold()) this.#setAlarm()
  }

  #tell(): Promise<void> {
    return tellHolders(this.env, this.#ledger, this.revoked())
  }

  #isUntold(): boolean {
    return this.#ledger.untold(this.revoked().n).length > 0
  }

  /** At the time that the rows ask for: soon while a session was not told, else when one of them may go. */
  #setAlarm(): void {
    const now = Date.now()
    const expiry = this.#ledger.nextExpiry()
    const { storage } = this.ctx
    if (this.#isUntold()) this.ctx.waitUntil(storage.setAlarm(now + RETELL_MS))
    else if (expiry === null) this.ctx.waitUntil(storage.deleteAlarm())
    else this.ctx.waitUntil(storage.setAlarm(Math.min(expiry * 1000, now + MAX_ALARM_MS)))
  }
}

function nowSeconds(): number {
  return Date.now() / 1000
}
