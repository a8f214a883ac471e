/**
 * user-directory.ts: the Durable Object of one user: the lists of own and shared sessions, the sign-ins, the revoked tokens,
 * and whether the user is suspended or erased.
 *
 * A list grants nothing: each session object checks its owner itself. Revocations are pushed to the sessions that may
 * hold sockets of the user, so that idle objects can sleep; the alarm repeats failed pushes. The object stores nothing
 * before its first write.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import type { SessionSummary, SharedSession } from "../../shared/protocol/http-body.ts"
import { PAGE_TOKEN_SECONDS } from "../../shared/limits.ts"
import type { Env } from "../env.ts"
import { type Claims, getRole, getScope, type Role } from "../platform/rpc/claims.ts"
import type {
  DirectoryEntry,
  DirectoryRpc,
  Login,
  LoginSecrets,
  NewLogin,
  RevocationResult,
  RevocationState,
  SessionCursor,
  SharedCursor,
  UserState,
} from "../platform/rpc/directory-rpc.ts"
import { toTitle } from "../../shared/text/title.ts"
import { STOCK_TABLE, StockRows } from "../limits/stock-rows.ts"
import { deleteAllRows, hasSchema, runMigrations } from "../platform/migrate.ts"
import type { UsageReport } from "../../shared/usage/usage-report.ts"
import { DIRECTORY_USAGE_TABLES } from "../usage/directory-usage.ts"
import { MeteredDirectory } from "../usage/metered-directory.ts"
import { ACCOUNT_TABLE, AccountRows } from "./account-rows.ts"
import { ALL_TOKENS, closeHolderSockets, isListed, listEntries, restoreEntry } from "./directory-transfer.ts"
import { createHolderSockets, type HolderSockets } from "./holder-sockets.ts"
import { LOGIN_TABLE, LoginRows } from "./login-rows.ts"
import { pushRevocations } from "./revocation-push.ts"
import { HOLDER_SOCKETS, REVOCATION_TABLES, RevocationRows } from "./revocation-rows.ts"
import { SHARED_TABLE, SharedRows } from "./shared-rows.ts"
import { UserRegistration } from "./user-registration.ts"
import {
  findTokenFault,
  isRevoked,
  isIssuedBeforeCutoff,
  MAX_REVOKED_LIMITED_TOKENS,
  MAX_REVOKED_TOKENS,
  NO_REVOCATIONS,
} from "./revocation.ts"
import { CLOCK_TOLERANCE_SECONDS } from "./verify-token.ts"

/** With the index, listing sessions reads only the rows that it returns. */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS sessions (
     id TEXT PRIMARY KEY, title TEXT NOT NULL,
     created INTEGER NOT NULL, active INTEGER NOT NULL) WITHOUT ROWID;
   CREATE INDEX sessions_active ON sessions (active, created)`,
  REVOCATION_TABLES,
  "ALTER TABLE sessions ADD COLUMN running INTEGER NOT NULL DEFAULT 0",
  ACCOUNT_TABLE,
  SHARED_TABLE,
  LOGIN_TABLE,
  STOCK_TABLE,
  HOLDER_SOCKETS,
  DIRECTORY_USAGE_TABLES,
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

export class Directory extends MeteredDirectory implements DirectoryRpc {
  readonly #revocationRows: RevocationRows
  readonly #sharedRows: SharedRows
  readonly #accountRows: AccountRows
  readonly #registration: UserRegistration
  readonly #loginRows: LoginRows
  readonly #stockRows: StockRows
  readonly #holderSockets: HolderSockets

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.#revocationRows = new RevocationRows(ctx.storage.sql)
    this.#sharedRows = new SharedRows(ctx.storage.sql)
    this.#accountRows = new AccountRows(ctx.storage.sql)
    this.#registration = new UserRegistration(ctx, env, this.#accountRows)
    this.#loginRows = new LoginRows(ctx.storage.sql)
    this.#stockRows = new StockRows(ctx.storage.sql)
    this.#holderSockets = createHolderSockets(ctx.id.name ?? "", env, this.#revocationRows)
    if (hasSchema(ctx.storage.sql)) runMigrations(ctx.storage, MIGRATIONS)
  }

  async addSession(
    id: string,
    title: string,
    created: number,
    claims?: Pick<Claims, "role" | "issued">,
  ): Promise<Result<null>> {
    const isTooOld = (): boolean => claims !== undefined && isIssuedBeforeCutoff(claims, this.#readRevocationState())
    // A request that was admitted before the user was erased must not add the user again, however slow it is.
    if (isTooOld()) return fail({ reason: "token_revoked" })
    await this.#register(claims?.role, true)
    if (isTooOld()) return fail({ reason: "token_revoked" })
    runMigrations(this.ctx.storage, MIGRATIONS)
    const { sql } = this.ctx.storage
    if (isListed(sql, id)) return succeed(null)
    const admitted = this.#stockRows.checkSessions()
    if (!admitted.ok) return admitted
    this.#stockRows.addSessions(1)
    restoreEntry(sql, { id, title, created, active: created })
    return succeed(null)
  }

  recordActivity(id: string, at: number, title?: string, running?: boolean): boolean {
    if (!hasSchema(this.ctx.storage.sql)) return running !== undefined
    this.ctx.storage.sql.exec(
      `UPDATE sessions SET active = max(active, ?), title = coalesce(?, title), running = coalesce(?, running)
       WHERE id = ?`,
      at,
      title ?? null,
      running === undefined ? null : Number(running),
      id,
    )
    return running !== undefined
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

  setRunning(id: string, running: boolean, report?: UsageReport): number | null {
    if (report !== undefined) this.addUsage(report)
    if (!hasSchema(this.ctx.storage.sql)) return null
    const value = running ? 1 : 0
    this.ctx.storage.sql.exec("UPDATE sessions SET running = ? WHERE id = ? AND running <> ?", value, id, value)
    return report?.n ?? null
  }

  removeSession(id: string): boolean {
    const { sql } = this.ctx.storage
    if (!hasSchema(sql)) return false
    this.#revocationRows.removeHolder(id)
    const wasListed = sql.exec("DELETE FROM sessions WHERE id = ? RETURNING id", id).toArray().length > 0
    if (wasListed) this.#stockRows.addSessions(-1)
    return wasListed
  }

  putShared(shared: SharedSession): Result<null> {
    runMigrations(this.ctx.storage, MIGRATIONS)
    return this.#sharedRows.put(shared)
  }

  renameShared(owner: string, id: string, title: string): void {
    if (hasSchema(this.ctx.storage.sql)) this.#sharedRows.rename(owner, id, title)
  }

  removeShared(owner: string, id: string): void {
    if (hasSchema(this.ctx.storage.sql)) this.#sharedRows.remove(owner, id)
  }

  listShared(limit: number, after?: SharedCursor): SharedSession[] {
    return hasSchema(this.ctx.storage.sql) ? this.#sharedRows.list(limit, after) : []
  }

  getRevocationState(): RevocationState {
    if (!hasSchema(this.ctx.storage.sql)) return NO_REVOCATIONS
    // For a directory that is older than the list of users. It must not delay the request.
    this.ctx.waitUntil(this.#register())
    return this.#readRevocationState()
  }

  #readRevocationState(): RevocationState {
    if (!hasSchema(this.ctx.storage.sql)) return NO_REVOCATIONS
    const revoked = this.#revocationRows.readRevocationState(nowSeconds())
    return this.#accountRows.isSuspended() ? { ...revoked, suspended: true } : revoked
  }

  async authorizeSocket(claims: Claims, session: string, sockets = 0): Promise<Result<null>> {
    await this.#register(getRole(claims))
    const revoked = this.#readRevocationState()
    const fault = findTokenFault(claims, revoked)
    if (fault !== null) return fail(fault)
    runMigrations(this.ctx.storage, MIGRATIONS)
    const isStale = claims.hasStoredRole === true && this.#accountRows.isAboveRole(getRole(claims))
    if (isStale) return fail({ reason: "token_revoked" })
    this.#revocationRows.pruneExpired(nowSeconds())
    const admitted = await this.#holderSockets.check(session, sockets)
    if (!admitted.ok) return admitted
    // The sessions may have been asked in the meantime, and the token revoked.
    const newest = this.#readRevocationState()
    const newFault = findTokenFault(claims, newest)
    if (newFault !== null) return fail(newFault)
    this.#revocationRows.addHolder(session, claims, newest.n, sockets)
    return succeed(null)
  }

  async revokeTokens(claims: Claims, wantsAll: boolean): Promise<Result<RevocationResult>> {
    await this.#register(getRole(claims))
    const revoked = this.#readRevocationState()
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
    if (!isListed(this.ctx.storage.sql, entry.id)) this.#stockRows.addSessions(1)
    restoreEntry(this.ctx.storage.sql, entry)
  }

  beginErasure(): void {
    const revoked = this.#readRevocationState()
    if (revoked.upTo === ALL_TOKENS) return
    this.#writeRevocation(revoked, () => this.#revocationRows.revokeAll(ALL_TOKENS))
  }

  async endErasure(keepsTombstone: boolean): Promise<void> {
    const { storage } = this.ctx
    if (keepsTombstone) runMigrations(storage, MIGRATIONS)
    this.#registration.reset()
    await storage.deleteAlarm()
    if (!keepsTombstone) return await storage.deleteAll()
    storage.transactionSync(() => {
      deleteAllRows(storage.sql)
      this.#revocationRows.revokeAll(nowSeconds())
      this.#accountRows.setErased()
    })
  }

  async closeSockets(tenant: string): Promise<number> {
    if (!hasSchema(this.ctx.storage.sql)) return 0
    return await closeHolderSockets(this.env, tenant, this.#revocationRows.listHolders())
  }

  applyUserState(state: UserState): void {
    runMigrations(this.ctx.storage, MIGRATIONS)
    const before = this.#readRevocationState()
    if (!this.#accountRows.apply(state) || before.suspended === true) return
    // A suspended user's token whose issuer's clock is ahead must end, too. Another role needs new tokens at once.
    const upTo = state.upTo ?? nowSeconds() + (state.suspended ? CLOCK_TOLERANCE_SECONDS : 0)
    if (before.upTo !== null && before.upTo >= upTo) return
    this.#writeRevocation(before, () => this.#revocationRows.revokeAll(upTo))
  }

  addLogin(login: NewLogin): Result<null> {
    runMigrations(this.ctx.storage, MIGRATIONS)
    const revoked = this.#readRevocationState()
    if (this.#loginRows.has(login.id) || revoked.tokens.includes(login.id)) return fail({ reason: "sign_in_required" })
    // Each sign-in can add a revocation, so a full list admits no more of them until some expire.
    if (revoked.tokens.length >= MAX_REVOKED_TOKENS)
      return fail({ reason: "revocations_full", max: MAX_REVOKED_TOKENS })
    // `admitSignIn` has added the user to the tenant's list.
    this.#accountRows.setRegistered()
    this.#loginRows.prune(Date.now())
    this.#revokeLogins(this.#loginRows.add(login, Date.now()))
    return succeed(null)
  }

  useLogin(id: string, secrets: LoginSecrets): Result<Login | "copied"> {
    if (!hasSchema(this.ctx.storage.sql)) return fail({ reason: "sign_in_required" })
    if (this.#accountRows.isSuspended()) return fail({ reason: "user_suspended" })
    const use = this.#loginRows.use(id, secrets, Date.now())
    if (use === "unknown") return fail({ reason: "sign_in_required" })
    if (use === "copied") this.#endLogin(id)
    return succeed(use === "copied" ? use : use.login)
  }

  endLogin(id: string, presented: string, everywhere: boolean): "current" | "copied" | null {
    const use = hasSchema(this.ctx.storage.sql) ? this.#loginRows.check(id, presented, Date.now()) : null
    if (everywhere && use === "current")
      this.#writeRevocation(this.#readRevocationState(), () => this.#revokeAllUpTo(nowSeconds()))
    else this.#endLogin(id)
    return use
  }

  #endLogin(id: string): void {
    if (hasSchema(this.ctx.storage.sql) && this.#loginRows.remove(id)) this.#revokeLogins([id])
  }

  /** Revokes the tokens of sign-ins that have ended. */
  #revokeLogins(ids: readonly string[]): void {
    if (ids.length === 0) return
    this.#writeRevocation(this.#readRevocationState(), () => this.#writeRevokedLogins(ids))
  }

  #writeRevokedLogins(ids: readonly string[]): void {
    const now = nowSeconds()
    this.#revocationRows.pruneExpired(now)
    for (const id of ids) this.#revocationRows.revokeLogin(id, now, now + PAGE_TOKEN_SECONDS + CLOCK_TOLERANCE_SECONDS)
  }

  /** Sign-ins end too, with the tokens that are being issued from them now. */
  #revokeAllUpTo(upTo: number): void {
    this.#revocationRows.revokeAll(upTo)
    this.#writeRevokedLogins(this.#loginRows.removeAll())
  }

  protected override migrate(): void {
    runMigrations(this.ctx.storage, MIGRATIONS)
  }

  override async alarm(): Promise<void> {
    await this.flushUsageSafely()
    this.#revocationRows.pruneExpired(nowSeconds())
    await this.#pushRevocations()
    this.#scheduleAlarm()
  }

  /** Adds the user to the tenant's list, once. Before the first write it must succeed, so that no data is unknown there. */
  async #register(role?: Role, isFirstSession = false): Promise<void> {
    const isUsed = hasSchema(this.ctx.storage.sql)
    // An old token of an erased user must not add the user again. A new one does with its first session.
    if (isUsed && !isFirstSession && this.#accountRows.isErased()) return
    await this.#registration.ensure(role, isUsed, () => runMigrations(this.ctx.storage, MIGRATIONS))
  }

  #revokeAll(claims: Claims, revoked: RevocationState): Result<RevocationResult> {
    if (revoked.upTo !== null && isIssuedBeforeCutoff(claims, revoked))
      return succeed({ revoked: "all", up_to: revoked.upTo })
    // Otherwise a stolen token could lock out the owner who has revoked it.
    if (isRevoked(claims, revoked)) return fail({ reason: "token_revoked" })
    // The issuer's clock may be ahead of ours.
    const upTo = Math.max(nowSeconds(), claims.issued)
    this.#writeRevocation(revoked, () => this.#revokeAllUpTo(upTo))
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
    return pushRevocations(this.env, this.#revocationRows, this.#readRevocationState())
  }

  #hasUnnotifiedHolders(): boolean {
    return this.#revocationRows.listUnnotifiedHolders(this.#readRevocationState().n).length > 0
  }

  /** Soon if a session still has to be notified, otherwise when the next revocation expires. */
  #scheduleAlarm(): void {
    const expiry = this.#revocationRows.findNextExpiry()
    this.setAlarmBy(this.#hasUnnotifiedHolders() ? Date.now() + REVOCATION_RETRY_MS : (expiry ?? Infinity) * 1000)
  }
}

function nowSeconds(): number {
  return Date.now() / 1000
}
