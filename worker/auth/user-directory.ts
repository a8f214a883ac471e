/**
 * user-directory.ts: the Durable Object of one user, named `tenant:user`: lists their sessions, and revokes their tokens.
 *
 * route → revoke → DIRECTORY → sessions that may hold sockets of this user
 * Whose a session is, the session itself knows. Until there is something to keep it stores nothing. Revocations are
 * pushed, so that no object has to stay awake to ask; what a session was not told, the alarm tells it.
 */

import { DurableObject } from "cloudflare:workers"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import type { SessionSummary } from "../../shared/protocol/http-body.ts"
import type { Env } from "../env.ts"
import { hasSchema, runMigrations } from "../platform/migrate.ts"
import { type Claims, createUserKey } from "./verify-token.ts"
import { createRevocationRows, REVOCATION_TABLES, type RevocationRows } from "./revocation-rows.ts"
import { isRevokedWithAll, isRevoked, NO_REVOCATIONS, type RevocationState } from "./revocation.ts"
import { pushRevocations } from "./revocation-push.ts"

/** Numbered by their place; each runs once. The index makes a list read the rows that it returns, and no others. */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS sessions (
     id TEXT PRIMARY KEY, title TEXT NOT NULL,
     created INTEGER NOT NULL, active INTEGER NOT NULL) WITHOUT ROWID;
   CREATE INDEX sessions_active ON sessions (active, created)`,
  REVOCATION_TABLES,
  "ALTER TABLE sessions ADD COLUMN running INTEGER NOT NULL DEFAULT 0",
]

/** The newest activity first. */
export const LIST_SQL =
  "SELECT id, title, created, active, running FROM sessions ORDER BY active DESC, created DESC LIMIT ?"

/** What a session was not told is told again so often, in milliseconds. SPEC AU8. */
const REVOCATION_RETRY_MS = 10_000

/** Tokens of one user that are revoked one by one; with one more, all are. Bounds what is handed around. SPEC AU9. */
export const MAX_REVOKED_TOKENS = 100

/** An alarm is not set further ahead, in milliseconds: a token may live for ever. */
const MAX_ALARM_MS = 30 * 24 * 60 * 60_000

/** What was revoked: this token, or all that were issued up to then (seconds since 1970). */
export type RevocationResult = { readonly revoked: "token" } | { readonly revoked: "all"; readonly up_to: number }

export function getDirectoryStub(env: Env, identity: Pick<Claims, "tenant" | "user">) {
  return env.DIRECTORY.getByName(createUserKey(identity))
}

export class Directory extends DurableObject<Env> {
  readonly #revocationRows: RevocationRows

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.#revocationRows = createRevocationRows(ctx.storage.sql)
    if (hasSchema(ctx.storage.sql)) runMigrations(ctx.storage, MIGRATIONS)
  }

  addSession(id: string, title: string, created: number): void {
    runMigrations(this.ctx.storage, MIGRATIONS)
    this.ctx.storage.sql.exec(
      "INSERT OR IGNORE INTO sessions (id, title, created, active) VALUES (?, ?, ?, ?)",
      ...[id, title, created, created],
    )
  }

  /** Something was said there, and perhaps it has a title now. A session that was never added is not listed. */
  recordActivity(id: string, at: number, title?: string): void {
    if (!hasSchema(this.ctx.storage.sql)) return
    this.ctx.storage.sql.exec(
      "UPDATE sessions SET active = max(active, ?), title = coalesce(?, title) WHERE id = ?",
      ...[at, title ?? null, id],
    )
  }

  /** The newest activity first. */
  listSessions(limit: number): SessionSummary[] {
    if (!hasSchema(this.ctx.storage.sql)) return []
    return this.ctx.storage.sql
      .exec<Omit<SessionSummary, "running"> & { running: number }>(LIST_SQL, limit)
      .toArray()
      .map((row) => ({ ...row, running: row.running === 1 }))
  }

  /** Something runs there now, or nothing does any more. Writes only what changes. */
  setRunning(id: string, running: boolean): void {
    if (!hasSchema(this.ctx.storage.sql)) return
    const value = running ? 1 : 0
    this.ctx.storage.sql.exec("UPDATE sessions SET running = ? WHERE id = ? AND running <> ?", value, id, value)
  }

  /** A session is no more: neither is it listed nor told of revocations. False where it was not listed. */
  removeSession(id: string): boolean {
    const { sql } = this.ctx.storage
    if (!hasSchema(sql)) return false
    this.#revocationRows.removeHolder(id)
    return sql.exec("DELETE FROM sessions WHERE id = ? RETURNING id", id).toArray().length > 0
  }

  /** Which of this user's tokens are revoked. */
  getRevocationState(): RevocationState {
    return hasSchema(this.ctx.storage.sql) ? this.#revocationRows.readRevocationState(nowSeconds()) : NO_REVOCATIONS
  }

  /**
   * A session asks whether this token may open a socket there. From now on, until the token has run out, it is told of
   * every revocation.
   */
  authorizeSocket(claims: Claims, session: string): Result<null> {
    const revoked = this.getRevocationState()
    if (isRevoked(claims, revoked)) return fail({ reason: "token_revoked" })
    runMigrations(this.ctx.storage, MIGRATIONS)
    this.#revocationRows.pruneExpired(nowSeconds())
    this.#revocationRows.addHolder(session, claims, revoked.n)
    return succeed(null)
  }

  /**
   * Revokes the token that asks, or all of its user. The same again changes nothing.
   *
   * Errors  `token_revoked` where a token that was revoked by itself asks for all others.
   */
  revokeTokens(claims: Claims, wantsAll: boolean): Result<RevocationResult> {
    const revoked = this.getRevocationState()
    const isFull = revoked.tokens.length >= MAX_REVOKED_TOKENS
    if (wantsAll || claims.token === null || (isFull && !isRevoked(claims, revoked))) {
      return this.#revokeAll(claims, revoked)
    }
    const { token } = claims
    if (!isRevoked(claims, revoked))
      this.#writeRevocation(revoked, () => this.#revocationRows.revokeToken(token, claims))
    return succeed({ revoked: "token" })
  }

  override async alarm(): Promise<void> {
    this.#revocationRows.pruneExpired(nowSeconds())
    await this.#pushRevocations()
    this.#scheduleAlarm()
  }

  #revokeAll(claims: Claims, revoked: RevocationState): Result<RevocationResult> {
    if (revoked.upTo !== null && isRevokedWithAll(claims, revoked))
      return succeed({ revoked: "all", up_to: revoked.upTo })
    // Whoever found a token that its owner gave up must not be able to shut the owner out.
    if (isRevoked(claims, revoked)) return fail({ reason: "token_revoked" })
    // The clock of whoever signed this very token may be ahead of ours.
    const upTo = Math.max(nowSeconds(), claims.issued)
    this.#writeRevocation(revoked, () => this.#revocationRows.revokeAll(upTo))
    return succeed({ revoked: "all", up_to: upTo })
  }

  /** The alarm is set with the write: should this process end now, the sessions are still told. */
  #writeRevocation(before: RevocationState, write: () => void): void {
    runMigrations(this.ctx.storage, MIGRATIONS)
    // One that is set already stays: revoking again and again must not put it off.
    const isAlarmSet = this.#revocationRows.listUnnotifiedHolders(before.n).length > 0
    write()
    if (!isAlarmSet) this.#scheduleAlarm()
    this.ctx.waitUntil(this.#pushAndReschedule())
  }

  async #pushAndReschedule(): Promise<void> {
    await this.#pushRevocations()
    if (!this.#hasUnnotifiedHolders()) this.#scheduleAlarm()
  }

  #pushRevocations(): Promise<void> {
    return pushRevocations(this.env, this.#revocationRows, this.getRevocationState())
  }

  #hasUnnotifiedHolders(): boolean {
    return this.#revocationRows.listUnnotifiedHolders(this.getRevocationState().n).length > 0
  }

  /** At the time that the rows ask for: soon while a session was not told, else when one of them may go. */
  #scheduleAlarm(): void {
    const now = Date.now()
    const expiry = this.#revocationRows.findNextExpiry()
    const { storage } = this.ctx
    if (this.#hasUnnotifiedHolders()) this.ctx.waitUntil(storage.setAlarm(now + REVOCATION_RETRY_MS))
    else if (expiry === null) this.ctx.waitUntil(storage.deleteAlarm())
    else this.ctx.waitUntil(storage.setAlarm(Math.min(expiry * 1000, now + MAX_ALARM_MS)))
  }
}

function nowSeconds(): number {
  return Date.now() / 1000
}
