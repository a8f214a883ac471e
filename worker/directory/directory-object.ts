/**
 * directory-object.ts: the Durable Object of one user. Each method forwards to the part that owns the rows.
 * `DirectoryRpc` describes the methods.
 *
 * A list entry grants no access: each session object itself checks who may use it. A call that only reads an unused
 * object stores nothing.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import type { BudgetView } from "../../shared/usage/budget-view.ts"
import type { UsageReport } from "../../shared/usage/usage-report.ts"
import type { UsageEntry } from "../../shared/usage/usage-totals.ts"
import type { SessionLease } from "../../shared/usage/user-account.ts"
import { isIssuedBeforeCutoff } from "../auth/revocation.ts"
import type { Env } from "../env.ts"
import { REMOTE_FETCH_TABLE, RemoteFetches } from "../limits/remote-fetches.ts"
import { STOCK_TABLE } from "../limits/stock-rows.ts"
import { createUserBytes, USER_BYTES_TABLES, type UserBytes } from "../limits/user-bytes.ts"
import { deleteAllRows, ObjectTables } from "../platform/migrate.ts"
import { type Claims, getRole } from "../platform/rpc/claims.ts"
import type * as Types from "../platform/rpc/directory-rpc.ts"
import { ORGANIZING_TABLES } from "../organizing/organizing-columns.ts"
import { PROMPT_TABLE } from "../organizing/prompt-rows.ts"
import { SEARCH_TABLE } from "../search/search-table.ts"
import { TEXT_FETCH_TABLE } from "../search/text-fetches.ts"
import { DirectoryBudgets } from "../usage/directory-budgets.ts"
import { createDirectoryHost, type DirectoryHost } from "../usage/directory-host.ts"
import { DIRECTORY_USAGE_TABLES, ENDED_LEDGERS, UNSENT_REPORTS } from "../usage/directory-usage.ts"
import { BUDGET_ACCOUNT_TABLE } from "../usage/user-budget.ts"
import { ACCOUNT_TABLE, AccountRows } from "./account-rows.ts"
import { DirectoryLibrary } from "./directory-library.ts"
import { LOGIN_TABLE, LoginRows } from "./login-rows.ts"
import { HOLDER_SOCKETS, REVOCATION_TABLES } from "./revocation-rows.ts"
import { SESSION_RUNNING, SESSION_TABLE, SessionLists, listRunningSessions } from "./session-lists.ts"
import { changeShareEntries, SHARE_ENTRY_TABLE } from "./share-entries.ts"
import { SHARED_TABLE } from "./shared-rows.ts"
import { REVOCATION_RETRY_MS, TokenRevocations } from "./token-revocations.ts"
import { UserLogins } from "./user-logins.ts"
import { UserRegistration } from "./user-registration.ts"

const MIGRATIONS: readonly string[] = [
  SESSION_TABLE,
  REVOCATION_TABLES,
  SESSION_RUNNING,
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
  ORGANIZING_TABLES,
  SEARCH_TABLE,
  TEXT_FETCH_TABLE,
  SHARE_ENTRY_TABLE,
  PROMPT_TABLE,
]

/** Maximum time until the next alarm, in milliseconds. A token's expiry can be arbitrarily far in the future. */
const MAX_ALARM_MS = 30 * 24 * 60 * 60_000

export class Directory extends DirectoryLibrary implements Types.DirectoryRpc {
  readonly #host: DirectoryHost
  readonly #tables: ObjectTables
  readonly #budgets: DirectoryBudgets
  readonly #sessions: SessionLists
  readonly #registration: UserRegistration
  readonly #revocations: TokenRevocations
  readonly #logins: UserLogins
  readonly #userBytes: UserBytes
  readonly #remoteFetches: RemoteFetches

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.#tables = new ObjectTables(ctx.storage, MIGRATIONS)
    const host = createDirectoryHost(ctx, env, this.#tables)
    this.#host = host
    const accountRows = new AccountRows(host.sql)
    const loginRows = new LoginRows(host.sql)
    this.#budgets = new DirectoryBudgets(host, () => listRunningSessions(host.sql))
    this.#sessions = new SessionLists(host, this.#budgets)
    this.#registration = new UserRegistration(host, accountRows, (grant) => this.#budgets.applyGrant(grant))
    this.#revocations = new TokenRevocations(host, accountRows, loginRows, () => this.scheduleAlarm())
    this.#logins = new UserLogins(host, loginRows, accountRows, this.#revocations)
    this.#userBytes = createUserBytes(ctx, env, (bytes) => this.#budgets.account.checkHeld("stored_bytes", bytes))
    this.#remoteFetches = new RemoteFetches(host.sql)
  }

  protected override getHost(): DirectoryHost {
    return this.#host
  }

  protected override getLists(): SessionLists {
    return this.#sessions
  }

  protected override async ensureUser(): Promise<void> {
    await this.#registration.ensure()
  }

  // Sessions

  async addSession(
    id: string,
    title: string,
    created: number,
    claims?: Pick<Claims, "role" | "issued">,
    isTemporary = false,
  ): Promise<Result<null>> {
    const isTooOld = (): boolean => claims !== undefined && isIssuedBeforeCutoff(claims, this.#revocations.readState())
    // Even a slow request that was admitted before the user was erased must not add the user again.
    if (isTooOld()) return fail({ reason: "token_revoked" })
    await this.#registration.ensure(claims?.role, true)
    if (isTooOld()) return fail({ reason: "token_revoked" })
    // An earlier version may have removed a session with this id but left its text in the index.
    if (!this.#sessions.isListed(id)) await this.removeTexts(id)
    const added = this.#sessions.add({ id, title, created, active: created, ...(isTemporary ? { isTemporary } : {}) })
    if (added.ok && title !== "") await this.addTitle(id)
    return added
  }

  override async removeSession(id: string): Promise<boolean> {
    if (!this.#tables.exist()) return false
    this.#revocations.removeSession(id)
    await this.removeTexts(id)
    return this.#sessions.remove(id)
  }

  changeShares(change: Types.ShareChange): Result<readonly Types.ShareEntry[]> {
    return changeShareEntries(this.#host, change)
  }

  // Usage and budgets

  endUsage(reports: readonly UsageReport[]): void {
    this.#budgets.metering.end(reports)
  }

  async closeUsage(): Promise<string | null> {
    return await this.#budgets.metering.close()
  }

  async flushUsage(): Promise<void> {
    await this.#budgets.metering.flush()
  }

  readUsage(from: string, to: string): UsageEntry[] {
    return this.#budgets.metering.readTotals(from, to)
  }

  async leaseTurn(session: string, isAgent: boolean): Promise<Result<SessionLease | null>> {
    return await this.#budgets.leaseTurn(session, isAgent)
  }

  async learnBudgets(): Promise<void> {
    await this.#budgets.learnLimits(() => this.#sessions.count())
  }

  async refreshBudget(): Promise<void> {
    await this.#budgets.refresh()
  }

  async readBudgets(): Promise<BudgetView[]> {
    const countHeld = () => ({ sessions: this.#sessions.count(), stored_bytes: this.#userBytes.count() })
    return await this.#budgets.readViews(countHeld)
  }

  // Limits

  async reportBytes(report: Types.BytesReport): Promise<Result<number>> {
    this.#tables.create()
    return await this.#userBytes.apply(report)
  }

  async removeBytes(session: string): Promise<void> {
    if (this.#tables.exist()) await this.#userBytes.remove(session)
  }

  checkBytes(more: number): Result<null> {
    return this.#tables.exist() ? this.#userBytes.check(more) : succeed(null)
  }

  countRemoteFetch(): Result<null> {
    this.#tables.create()
    return this.#remoteFetches.count(Date.now())
  }

  // Tokens and sign-ins

  getRevocationState(): Types.RevocationState {
    // Registers users of directories that are older than the list of users. Registering must not delay the request.
    if (this.#tables.exist()) this.ctx.waitUntil(this.#registration.ensure())
    return this.#revocations.readState()
  }

  async authorizeSocket(claims: Claims, session: string, sockets = 0): Promise<Result<null>> {
    await this.#registration.ensure(getRole(claims))
    const authorized = await this.#revocations.authorizeSocket(claims, session, sockets)
    if (authorized.ok) this.#sessions.markRead(session)
    return authorized
  }

  async revokeTokens(claims: Claims, wantsAll: boolean): Promise<Result<Types.RevocationResult>> {
    await this.#registration.ensure(getRole(claims))
    return this.#revocations.revoke(claims, wantsAll)
  }

  applyUserState(state: Types.UserState): void {
    this.#revocations.applyUserState(state)
  }

  addLogin(login: Types.NewLogin): Result<null> {
    return this.#logins.add(login)
  }

  addKnownLogin(login: Types.NewLogin): Result<null> {
    return this.#logins.addKnown(login)
  }

  useLogin(id: string, secrets: Types.LoginSecrets): Result<Types.UsedLogin | "copied"> {
    return this.#logins.use(id, secrets)
  }

  endLogin(id: string, presented: string, everywhere: boolean): "current" | "copied" | null {
    return this.#logins.end(id, presented, everywhere)
  }

  // Export, import and erasure

  beginErasure(): void {
    this.#revocations.beginErasure()
  }

  async endErasure(keepsTombstone: boolean): Promise<void> {
    const { storage } = this.ctx
    if (keepsTombstone) this.#tables.create()
    this.#registration.reset()
    this.#budgets.forget()
    this.#revocations.forget()
    this.forgetLibrary()
    await storage.deleteAlarm()
    if (!keepsTombstone) return await storage.deleteAll()
    storage.transactionSync(() => {
      deleteAllRows(storage.sql)
      this.#revocations.endErasure()
    })
  }

  async closeSockets(tenant: string): Promise<number> {
    return await this.#revocations.closeSockets(tenant)
  }

  override async alarm(): Promise<void> {
    if (!this.#tables.exist()) return
    const flushed = this.#budgets.metering.flushDue(REVOCATION_RETRY_MS)
    await Promise.all([this.#revocations.handleAlarm(), flushed, this.handleLibraryAlarm()])
    if (this.#tables.exist()) this.scheduleAlarm()
  }

  /**
   * Sets the alarm to the earliest time that a part requests. The alarm is stored together with the preceding writes.
   */
  protected override scheduleAlarm(): void {
    const { storage } = this.ctx
    const metering = this.#budgets.metering.nextBatchAt() ?? Infinity
    const next = Math.min(this.#revocations.nextAlarmAt(), metering, this.nextLibraryAlarmAt())
    const setting =
      next === Infinity ? storage.deleteAlarm() : storage.setAlarm(Math.min(next, Date.now() + MAX_ALARM_MS))
    this.ctx.waitUntil(setting)
  }
}
