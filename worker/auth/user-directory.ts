/**
 * user-directory.ts: the Durable Object of one user: the lists of own and shared sessions, the sign-ins, the revoked tokens,
 * and whether the user is suspended or erased.
 *
 * A list grants nothing: each session object checks its owner itself. Revocations are pushed to the sessions that may
 * hold sockets of the user, so that idle objects can sleep; the alarm repeats failed pushes. The object stores nothing
 * before its first write.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import { PAGE_TOKEN_SECONDS } from "../../shared/limits.ts"
import type { HeldCounts } from "../../shared/usage/budget-view.ts"
import type { Env } from "../env.ts"
import { type Claims, getRole, getScope, type Role } from "../platform/rpc/claims.ts"
import type {
  BytesReport,
  DirectoryEntry,
  DirectoryRpc,
  LoginSecrets,
  NewLogin,
  RevocationResult,
  RevocationState,
  UsedLogin,
  UserState,
} from "../platform/rpc/directory-rpc.ts"
import { REMOTE_FETCH_TABLE, RemoteFetches } from "../limits/remote-fetches.ts"
import { createUserBytes, USER_BYTES_TABLES, type UserBytes } from "../limits/user-bytes.ts"
import { STOCK_TABLE, StockRows } from "../limits/stock-rows.ts"
import { deleteAllRows, hasSchema, runMigrations } from "../platform/migrate.ts"
import { DIRECTORY_USAGE_TABLES, ENDED_LEDGERS, UNSENT_REPORTS } from "../usage/directory-usage.ts"
import { BUDGET_ACCOUNT_TABLE } from "../usage/user-budget.ts"
import { ACCOUNT_TABLE, AccountRows } from "./account-rows.ts"
import { ALL_TOKENS, closeHolderSockets, isListed, restoreEntry } from "./directory-transfer.ts"
import { createHolderSockets, type HolderSockets } from "./holder-sockets.ts"
import { LOGIN_TABLE, LoginRows } from "./login-rows.ts"
import { pushRevocations } from "./revocation-push.ts"
import { HOLDER_SOCKETS, REVOCATION_TABLES, RevocationRows } from "./revocation-rows.ts"
import { SessionLists } from "./session-lists.ts"
import { SHARED_TABLE } from "./shared-rows.ts"
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
  BUDGET_ACCOUNT_TABLE,
  DIRECTORY_USAGE_TABLES,
  USER_BYTES_TABLES,
  REMOTE_FETCH_TABLE,
  ENDED_LEDGERS,
  UNSENT_REPORTS,
]

/** How often a failed notification is repeated, in milliseconds (SPEC AU8). */
const REVOCATION_RETRY_MS = 10_000

export class Directory extends SessionLists implements DirectoryRpc {
  readonly #revocationRows: RevocationRows
  readonly #accountRows: AccountRows
  readonly #registration: UserRegistration
  readonly #loginRows: LoginRows
  readonly #stockRows: StockRows
  readonly #holderSockets: HolderSockets
  readonly #userBytes: UserBytes
  readonly #remoteFetches: RemoteFetches

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.#revocationRows = new RevocationRows(ctx.storage.sql)
    this.#accountRows = new AccountRows(ctx.storage.sql)
    this.#registration = new UserRegistration(ctx, env, this.#accountRows, (grant) => this.applyGrant(grant))
    this.#loginRows = new LoginRows(ctx.storage.sql)
    this.#stockRows = new StockRows(ctx.storage.sql)
    this.#remoteFetches = new RemoteFetches(ctx.storage.sql)
    this.#userBytes = createUserBytes(ctx, env, (bytes) => this.budget.checkHeld("stored_bytes", bytes))
    this.#holderSockets = createHolderSockets(ctx.id.name ?? "", env, this.#revocationRows)
    if (hasSchema(ctx.storage.sql)) runMigrations(ctx.storage, MIGRATIONS)
  }

  protected override countHeld(): Omit<HeldCounts, "concurrent_turns"> {
    return { sessions: this.#stockRows.countSessions(), stored_bytes: this.#userBytes.count() }
  }

  protected override migrate(): void {
    runMigrations(this.ctx.storage, MIGRATIONS)
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
    this.migrate()
    const { sql } = this.ctx.storage
    if (isListed(sql, id)) return succeed(null)
    const budgeted = this.budget.checkHeld("sessions", this.#stockRows.countSessions() + 1)
    const admitted = budgeted.ok ? this.#stockRows.checkSessions() : budgeted
    if (!admitted.ok) return admitted
    this.#stockRows.addSessions(1)
    restoreEntry(sql, { id, title, created, active: created })
    return succeed(null)
  }

  removeSession(id: string): boolean {
    const { sql } = this.ctx.storage
    if (!hasSchema(sql)) return false
    this.#revocationRows.removeHolder(id)
    const wasListed = sql.exec("DELETE FROM sessions WHERE id = ? RETURNING id", id).toArray().length > 0
    if (wasListed) this.#stockRows.addSessions(-1)
    return wasListed
  }

  async reportBytes(report: BytesReport): Promise<Result<number>> {
    this.migrate()
    return await this.#userBytes.apply(report)
  }

  async removeBytes(session: string): Promise<void> {
    if (hasSchema(this.ctx.storage.sql)) await this.#userBytes.remove(session)
  }

  checkBytes(more: number): Result<null> {
    return hasSchema(this.ctx.storage.sql) ? this.#userBytes.check(more) : succeed(null)
  }

  countRemoteFetch(): Result<null> {
    this.migrate()
    return this.#remoteFetches.count(Date.now())
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
    const isErased = revoked.upTo === ALL_TOKENS || this.#accountRows.isErased()
    return {
      ...revoked,
      ...(this.#accountRows.isSuspended() ? { suspended: true } : {}),
      ...(isErased ? { erased: true } : {}),
    }
  }

  async authorizeSocket(claims: Claims, session: string, sockets = 0): Promise<Result<null>> {
    await this.#register(getRole(claims))
    const revoked = this.#readRevocationState()
    const fault = findTokenFault(claims, revoked)
    if (fault !== null) return fail(fault)
    this.migrate()
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

  restoreEntry(entry: DirectoryEntry): void {
    this.migrate()
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
    if (keepsTombstone) this.migrate()
    this.#registration.reset()
    this.budget.forget()
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
    this.migrate()
    const before = this.#readRevocationState()
    if (!this.#accountRows.apply(state) || before.suspended === true) return
    // A suspended user's token whose issuer's clock is ahead must end, too. Another role needs new tokens at once.
    const upTo = state.upTo ?? nowSeconds() + (state.suspended ? CLOCK_TOLERANCE_SECONDS : 0)
    if (before.upTo !== null && before.upTo >= upTo) return
    this.#writeRevocation(before, () => this.#revocationRows.revokeAll(upTo))
  }

  addLogin(login: NewLogin): Result<null> {
    this.migrate()
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

  addKnownLogin(login: NewLogin): Result<null> {
    const isKnown = hasSchema(this.ctx.storage.sql) && this.#accountRows.isRegistered()
    if (!isKnown || this.#readRevocationState().upTo === ALL_TOKENS) return fail({ reason: "user_unknown" })
    return this.#accountRows.isSuspended() ? fail({ reason: "user_suspended" }) : this.addLogin(login)
  }

  useLogin(id: string, secrets: LoginSecrets): Result<UsedLogin | "copied"> {
    if (!hasSchema(this.ctx.storage.sql)) return fail({ reason: "sign_in_required" })
    if (this.#accountRows.isSuspended()) return fail({ reason: "user_suspended" })
    const use = this.#loginRows.use(id, secrets, Date.now())
    if (use === "unknown") return fail({ reason: "sign_in_required" })
    if (use === "copied") this.#endLogin(id)
    return succeed(use === "copied" ? use : { ...use.login, version: this.#accountRows.readVersion() })
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

  override async alarm(): Promise<void> {
    this.#revocationRows.pruneExpired(nowSeconds())
    await Promise.all([this.#pushRevocations(), this.flushDueUsage(REVOCATION_RETRY_MS)])
    this.#scheduleAlarm()
  }

  /** Adds the user to the tenant's list, once. Before the first write it must succeed, so that no data is unknown there. */
  async #register(role?: Role, isFirstSession = false): Promise<void> {
    const isUsed = hasSchema(this.ctx.storage.sql)
    // An old token of an erased user must not add the user again. A new one does with its first session.
    if (isUsed && !isFirstSession && this.#accountRows.isErased()) return
    await this.#registration.ensure(role, isUsed, () => this.migrate())
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
    this.migrate()
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
