/**
 * user-directory.ts: the Durable Object of one user: the list of sessions, and the revoked tokens.
 *
 * The list grants nothing: each session object checks its owner itself. Revocations are pushed to the sessions that may
 * hold sockets of the user, so that idle objects can sleep; the alarm repeats failed pushes. The object stores nothing
 * before its first write.
 */

import { DurableObject } from "cloudflare:workers"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import type { SessionSummary } from "../../shared/protocol/http-body.ts"
import type { Env } from "../env.ts"
import { type Claims, getScope } from "../platform/rpc/claims.ts"
import type {
  DirectoryEntry,
  DirectoryRpc,
  RevocationResult,
  RevocationState,
  SessionCursor,
} from "../platform/rpc/directory-rpc.ts"
import { toTitle } from "../../shared/text/title.ts"
import { deleteAllRows, hasSchema, runMigrations } from "../platform/migrate.ts"
import { ALL_TOKENS, closeHolderSockets, listEntries, restoreEntry } from "./directory-transfer.ts"
import { pushRevocations } from "./revocation-push.ts"
import { REVOCATION_TABLES, RevocationRows } from "./revocation-rows.ts"
import {
  isRevoked,
  isIssuedBeforeCutoff,
  MAX_REVOKED_LIMITED_TOKENS,
  MAX_REVOKED_TOKENS,
  NO_REVOCATIONS,
} from "./revocation.ts"

/** With the index, listing sessions reads only the rows that it returns. */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS sessions (
     id TEXT PRIMARY KEY, title TEXT NOT NULL,
     created INTEGER NOT NULL, active INTEGER NOT NULL) WITHOUT ROWID;
   CREATE INDEX sessions_active ON sessions (active, created)`,
  REVOCATION_TABLES,
  "ALTER TABLE sessions ADD COLUMN running INTEGER NOT NULL DEFAULT 0",
]

const LIST_COLUMNS = "SELECT id, title, created, active, running FROM sessions"
/** The index ends with the primary key, so that this order, too, needs no sorting. */
const LIST_ORDER = "ORDER BY active DESC, created DESC, id DESC LIMIT ?"

export const LIST_SQL = `${LIST_COLUMNS} ${LIST_ORDER}`
export const LIST_AFTER_SQL = `${LIST_COLUMNS} WHERE (active, created, id) < (?, ?, ?) ${LIST_ORDER}`

/** Finds a session by its public id, which is also its key or the part of its key before the dot (`/` follows `.`). */
const FIND_KEY_SQL = "SELECT id FROM sessions WHERE id = ?1 OR (id > ?1 || '.' AND id < ?1 || '/') LIMIT 1"

/** How often a failed notification is repeated, in milliseconds (SPEC AU8). */
const REVOCATION_RETRY_MS = 10_000

/** Upper bound for the next alarm, in milliseconds from now: a token may be valid for ever. */
const MAX_ALARM_MS = 30 * 24 * 60 * 60_000

export class Directory extends DurableObject<Env> implements DirectoryRpc {
  readonly #revocationRows: RevocationRows

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.#revocationRows = new RevocationRows(ctx.storage.sql)
    if (hasSchema(ctx.storage.sql)) runMigrations(ctx.storage, MIGRATIONS)
  }

  addSession(id: string, title: string, created: number): void {
    runMigrations(this.ctx.storage, MIGRATIONS)
    this.ctx.storage.sql.exec(
      "INSERT OR IGNORE INTO sessions (id, title, created, active) VALUES (?, ?, ?, ?)",
      id,
      title,
      created,
      created,
    )
  }

  recordActivity(id: string, at: number, title?: string): void {
    if (!hasSchema(this.ctx.storage.sql)) return
    this.ctx.storage.sql.exec(
      "UPDATE sessions SET active = max(active, ?), title = coalesce(?, title) WHERE id = ?",
      at,
      title ?? null,
      id,
    )
  }

  listSessions(limit: number, after?: SessionCursor): SessionSummary[] {
    if (!hasSchema(this.ctx.storage.sql)) return []
    type ListedRow = Omit<SessionSummary, "running"> & { running: number }
    const { sql } = this.ctx.storage
    const rows =
      after === undefined
        ? sql.exec<ListedRow>(LIST_SQL, limit)
        : sql.exec<ListedRow>(LIST_AFTER_SQL, after.active, after.created, this.#findKey(after.id), limit)
    // An earlier version stored titles with controls.
    return rows.toArray().map((row) => ({ ...row, title: toTitle(row.title), running: row.running === 1 }))
  }

  /** The key of a session; its public id if the session is no longer listed. */
  #findKey(publicId: string): string {
    const [row] = this.ctx.storage.sql.exec<{ id: string }>(FIND_KEY_SQL, publicId).toArray()
    return row?.id ?? publicId
  }

  setRunning(id: string, running: boolean): void {
    if (!hasSchema(this.ctx.storage.sql)) return
    const value = running ? 1 : 0
    this.ctx.storage.sql.exec("UPDATE sessions SET running = ? WHERE id = ? AND running <> ?", value, id, value)
  }

  removeSession(id: string): boolean {
    const { sql } = this.ctx.storage
    if (!hasSchema(sql)) return false
    this.#revocationRows.removeHolder(id)
    return sql.exec("DELETE FROM sessions WHERE id = ? RETURNING id", id).toArray().length > 0
  }

  getRevocationState(): RevocationState {
    return hasSchema(this.ctx.storage.sql) ? this.#revocationRows.readRevocationState(nowSeconds()) : NO_REVOCATIONS
  }

  authorizeSocket(claims: Claims, session: string): Result<null> {
    const revoked = this.getRevocationState()
    if (isRevoked(claims, revoked)) return fail({ reason: "token_revoked" })
    runMigrations(this.ctx.storage, MIGRATIONS)
    this.#revocationRows.pruneExpired(nowSeconds())
    this.#revocationRows.addHolder(session, claims, revoked.n)
    return succeed(null)
  }

  revokeTokens(claims: Claims, wantsAll: boolean): Result<RevocationResult> {
    const revoked = this.getRevocationState()
    const { token } = claims
    if (wantsAll || token === null) return this.#revokeAll(claims, revoked)
    if (isRevoked(claims, revoked)) return succeed({ revoked: "token" })
    // A full list refuses; it never revokes other tokens.
    const max = getScope(claims) === "user" ? MAX_REVOKED_TOKENS : MAX_REVOKED_LIMITED_TOKENS
    if (revoked.tokens.length >= max) return fail({ reason: "revocations_full", max })
    this.#writeRevocation(revoked, () => {
      this.#revocationRows.pruneExpired(nowSeconds())
      this.#revocationRows.revokeToken(token, claims)
    })
    return succeed({ revoked: "token" })
  }

  listEntries(after: string | null, limit: number): DirectoryEntry[] {
    return hasSchema(this.ctx.storage.sql) ? listEntries(this.ctx.storage.sql, after, limit) : []
  }

  restoreEntry(entry: DirectoryEntry): void {
    runMigrations(this.ctx.storage, MIGRATIONS)
    restoreEntry(this.ctx.storage.sql, entry)
  }

  beginErasure(): void {
    const revoked = this.getRevocationState()
    if (revoked.upTo === ALL_TOKENS) return
    this.#writeRevocation(revoked, () => this.#revocationRows.revokeAll(ALL_TOKENS))
  }

  async endErasure(keepsTombstone: boolean): Promise<void> {
    const { storage } = this.ctx
    if (keepsTombstone) runMigrations(storage, MIGRATIONS)
    await storage.deleteAlarm()
    if (!keepsTombstone) return await storage.deleteAll()
    storage.transactionSync(() => {
      deleteAllRows(storage.sql)
      this.#revocationRows.revokeAll(nowSeconds())
    })
  }

  async closeSockets(tenant: string): Promise<number> {
    if (!hasSchema(this.ctx.storage.sql)) return 0
    return await closeHolderSockets(this.env, tenant, this.#revocationRows.listHolders())
  }

  override async alarm(): Promise<void> {
    this.#revocationRows.pruneExpired(nowSeconds())
    await this.#pushRevocations()
    this.#scheduleAlarm()
  }

  #revokeAll(claims: Claims, revoked: RevocationState): Result<RevocationResult> {
    if (revoked.upTo !== null && isIssuedBeforeCutoff(claims, revoked))
      return succeed({ revoked: "all", up_to: revoked.upTo })
    // Otherwise a stolen token could lock out the owner who has revoked it.
    if (isRevoked(claims, revoked)) return fail({ reason: "token_revoked" })
    // The issuer's clock may be ahead of ours.
    const upTo = Math.max(nowSeconds(), claims.issued)
    this.#writeRevocation(revoked, () => this.#revocationRows.revokeAll(upTo))
    return succeed({ revoked: "all", up_to: upTo })
  }

  /** Sets the alarm together with the write, so that the sessions are notified even if this process ends now. */
  #writeRevocation(before: RevocationState, write: () => void): void {
    runMigrations(this.ctx.storage, MIGRATIONS)
    // An alarm that is already set stays, or repeated revocations would postpone it again and again.
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

  /** Soon if a session still has to be notified, otherwise when the next revocation expires. */
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
