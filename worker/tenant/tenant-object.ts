/**
 * tenant-object.ts: the Durable Object of one tenant: its agents, settings, users, API keys, token keys, issuers, audit log, and
 * the jobs that export, import and erase it. Each method forwards to the module of its rows.
 *
 * Until something is written, it stores nothing and has the default agents.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import { parseJson } from "../../shared/json.ts"
import { MAX_AGENTS } from "../../shared/limits.ts"
import type { TenantGrant } from "../../shared/usage/user-account.ts"
import type { Env } from "../env.ts"
import { JOB_TABLES } from "../leaving/job-rows.ts"
import { hasSchema, runMigrations } from "../platform/migrate.ts"
import {
  type Agent,
  type AgentView,
  DEFAULT_AGENTS,
  GENERAL_AGENT_NAME,
  NO_SETTINGS,
  type TenantSettings,
  createAgentView,
} from "../settings/agent-config.ts"
import type { AuditEntry, AuditFileHeader, AuditHead, AuditPage } from "../../shared/protocol/audit-entry.ts"
import type { Actor, Administrator } from "../platform/rpc/actor.ts"
import type { Role } from "../platform/rpc/claims.ts"
import type { AuditCheck, AuditEvent, AuditFilter } from "../settings/audit-event.ts"
import type { NewUser, SignInUser, TenantRpc, TenantUser, UserBytesReport } from "../settings/tenant-rpc.ts"
import { isEmptySettings, mergeSettings, readDeploymentSettings } from "../settings/tenant-settings.ts"
import type { UserChange } from "../settings/user-change.ts"
import { BUDGET_TABLE } from "../usage/budget-rows.ts"
import { PRICE_TABLE } from "../usage/price-rows.ts"
import { TENANT_USAGE_TABLES } from "../usage/tenant-usage.ts"
import { TENANT_BYTES_TABLES, TenantBytes } from "../limits/tenant-bytes.ts"
import { checkAuditRows } from "./audit-check.ts"
import { AUDIT_TABLES, AuditRows } from "./audit-rows.ts"
import { type AlarmSource, TenantAlarm } from "./tenant-alarm.ts"
import { UserAdmin } from "./user-admin.ts"
import { USER_NOTICE_TABLE, UserNotices } from "./user-notices.ts"
import type {
  ApiKeyInfo,
  ApiKeyUse,
  ApiKeyUser,
  NewApiKey,
  NewTenant,
  StoredKey,
  TenantAccess,
  TokenKeyInfo,
} from "../settings/tenant-access.ts"
import { API_KEY_TABLE } from "./api-key-rows.ts"
import { BudgetTenant } from "./budget-tenant.ts"
import { TenantKeys } from "./tenant-keys.ts"
import { TENANT_TABLE, TenantRow } from "./tenant-row.ts"
import { FIRST_TOKEN_KEYS, TOKEN_KEY_TABLE } from "./token-key-rows.ts"
import type { IssuerInput, IssuerKeys, IssuerView, SignInClient } from "../settings/issuer-config.ts"
import { ISSUER_TABLES, IssuerRows } from "./issuer-rows.ts"
import type { TenantIssuers } from "./tenant-issuers.ts"
import { createUser, USER_TABLE, UserRows } from "./user-rows.ts"

/** A row of `agents` without a configuration is a default agent that was removed. */
const MIGRATIONS: readonly string[] = [
  "CREATE TABLE agents (name TEXT PRIMARY KEY, config TEXT) WITHOUT ROWID",
  "CREATE TABLE settings (one INTEGER PRIMARY KEY CHECK (one = 1), config TEXT NOT NULL)",
  USER_TABLE,
  AUDIT_TABLES,
  TENANT_TABLE,
  API_KEY_TABLE,
  TOKEN_KEY_TABLE,
  USER_NOTICE_TABLE,
  ISSUER_TABLES,
  JOB_TABLES,
  BUDGET_TABLE,
  `${TENANT_USAGE_TABLES}; ${PRICE_TABLE}`,
  TENANT_BYTES_TABLES,
]

export class Tenant extends BudgetTenant implements TenantRpc {
  readonly #tenant: string
  readonly #userRows: UserRows
  readonly #auditRows: AuditRows
  readonly #tenantRow: TenantRow
  readonly #keys: TenantKeys
  readonly #userNotices: UserNotices
  readonly #alarm: TenantAlarm
  #issuers: TenantIssuers | null = null

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    const { sql } = ctx.storage
    // Every stub of this object is made by its name.
    this.#tenant = ctx.id.name ?? ""
    this.#userRows = new UserRows(sql)
    this.#auditRows = new AuditRows(sql, this.#tenant)
    this.#tenantRow = new TenantRow(sql)
    this.#userNotices = new UserNotices(sql, env, this.#tenant, this.#userRows)
    this.#keys = new TenantKeys(ctx.storage, this.#auditRows, this.#userRows, this.#userNotices)
    const issuerRows = new IssuerRows(sql)
    const claims: AlarmSource = {
      nextAlarmAt: () => issuerRows.findNextRelease(),
      handleAlarm: async (now) => await (await this.#readIssuers())?.releaseDueClaims(now),
    }
    this.#alarm = new TenantAlarm(ctx, [this.#userNotices, this.#keys, this.jobs, claims])
    if (hasSchema(sql)) this.migrate()
  }

  override async alarm(): Promise<void> {
    if (this.#hasSchema()) await this.#alarm.handle(Date.now())
  }

  protected override scheduleAlarm(): void {
    this.#alarm.schedule()
  }

  listAgents(): Agent[] {
    const agents = new Map<string, Agent | null>(DEFAULT_AGENTS.map((agent) => [agent.name, agent]))
    // A replaced default agent keeps its place in the list. Null: a removed one.
    for (const [name, agent] of this.#readConfiguredAgents()) agents.set(name, agent)
    return [...agents.values()].filter((agent) => agent !== null)
  }

  getAgentView(name: string): AgentView | null {
    const view = createAgentView(this.listAgents(), name)
    if (view === null) return null
    const settings = this.getSettings()
    const withSettings = isEmptySettings(settings) ? view : { ...view, settings }
    const prices = this.listPricesOf(view.self)
    const withPrices = prices.length === 0 ? withSettings : { ...withSettings, prices }
    return this.hasBudgets() ? { ...withPrices, hasBudgets: true } : withPrices
  }

  tellUserBytes({ user, bytes, n, isRequired }: UserBytesReport): Result<number> {
    if (this.#isErased()) return succeed(n)
    this.migrate()
    return new TenantBytes(this.ctx.storage.sql).apply(user, bytes, n, isRequired)
  }

  getSettings(): TenantSettings {
    return mergeSettings(this.#readOwnSettings(), readDeploymentSettings(this.env))
  }

  setSettings(actor: Actor, settings: TenantSettings): TenantSettings {
    if (this.#isErased()) return this.getSettings()
    this.migrate()
    const config = JSON.stringify(settings)
    this.ctx.storage.sql.exec("INSERT OR REPLACE INTO settings (one, config) VALUES (1, ?)", config)
    const details = {
      embed_origins: settings.embed_origins.join(" "),
      media_hosts: settings.media_hosts.join(" "),
    }
    this.#auditRows.append(actor, { action: "settings.changed", details }, Date.now())
    return this.getSettings()
  }

  #readOwnSettings(): TenantSettings {
    if (!this.#hasSchema()) return NO_SETTINGS
    const [row] = this.ctx.storage.sql.exec<{ config: string }>("SELECT config FROM settings").toArray()
    // Written by `setSettings`.
    return row === undefined ? NO_SETTINGS : (parseJson(row.config) as unknown as TenantSettings)
  }

  putAgent(actor: Actor, agent: Agent): Result<null> {
    if (this.#isErased()) return fail({ reason: "tenant_erased" })
    const isKnown = this.listAgents().some(({ name }) => name === agent.name)
    if (!isKnown && this.listAgents().length >= MAX_AGENTS) return fail({ reason: "agents_full", max: MAX_AGENTS })
    this.#writeAgentRow(agent.name, JSON.stringify(agent))
    const details = { tools: agent.tools.join(" "), model: agent.model, is_new: !isKnown }
    this.#auditRows.append(actor, { action: "agent.changed", target: agent.name, details }, Date.now())
    return succeed(null)
  }

  removeAgent(actor: Actor, name: string): Result<null> {
    if (this.#isErased()) return fail({ reason: "tenant_erased" })
    const isKnown = this.listAgents().some((agent) => agent.name === name)
    if (!isKnown || name === GENERAL_AGENT_NAME) return fail({ reason: "agent_unknown" })
    this.#writeAgentRow(name, null)
    this.#auditRows.append(actor, { action: "agent.removed", target: name }, Date.now())
    return succeed(null)
  }

  registerUser(user: NewUser): TenantUser & { readonly grant?: TenantGrant } {
    // A request that was admitted before the tenant was erased must not leave a row behind.
    if (this.#isErased()) return createUser(user, Date.now())
    this.migrate()
    const registered = this.#userRows.register(user, Date.now())
    const grant = this.getBudgetGrant(user.id)
    return grant === null ? registered : { ...registered, grant }
  }

  getAccess(): TenantAccess {
    const tokenKeys = this.listTokenKeys()
    return {
      status: this.getStanding().status,
      firstTokenKey: tokenKeys.at(-1)?.generation ?? 1,
      newestTokenKey: tokenKeys[0]?.generation ?? 1,
    }
  }

  createTenant(actor: Actor, { id, name }: NewTenant, key: NewApiKey): Result<null> {
    const now = Date.now()
    // The id of an erased tenant stays taken, or its old tokens would be valid again.
    if (this.#isErased()) return fail({ reason: "tenant_taken" })
    return this.#change(() => {
      if (!this.#tenantRow.create(name ?? null, now)) return fail({ reason: "tenant_taken" })
      this.#auditRows.append(actor, { action: "tenant.created", target: id, details: { name: name ?? null } }, now)
      const added = this.#keys.addKey({ actor, role: "owner" }, key, now)
      return added.ok ? succeed(null) : added
    })
  }

  listKeys(): ApiKeyInfo[] {
    return this.#hasSchema() ? this.#keys.listKeys() : []
  }

  addKey(manager: Administrator, key: NewApiKey): Result<ApiKeyInfo> {
    return this.#change(() => this.#keys.addKey(manager, key, Date.now()))
  }

  removeKey(manager: Administrator, id: string): Result<null> {
    if (!this.#hasSchema()) return fail({ reason: "key_unknown" })
    return this.#keys.removeKey(manager, id, Date.now())
  }

  rotateKey(manager: Administrator, id: string, successor: StoredKey, graceMs: number): Result<ApiKeyInfo> {
    if (!this.#hasSchema()) return fail({ reason: "key_unknown" })
    return this.#keys.rotateKey(manager, id, successor, graceMs, Date.now())
  }

  useKey(use: ApiKeyUse): Result<ApiKeyUser> {
    return this.#hasSchema() ? this.#keys.useKey(use, Date.now()) : fail({ reason: "key_invalid" })
  }

  admitTokenUser(actor: Actor, user: NewUser): Result<Role> {
    if (!this.#hasSchema()) return fail({ reason: "key_invalid" })
    const isNew = this.findUser(user.id) === null
    if (isNew && this.getStanding().status === "leaving") return fail({ reason: "tenant_leaving" })
    return this.#keys.admitTokenUser(actor, user, Date.now())
  }

  listTokenKeys(): TokenKeyInfo[] {
    return this.#hasSchema() ? this.#keys.listTokenKeys(Date.now()) : [...FIRST_TOKEN_KEYS]
  }

  rotateTokenKeys(actor: Actor, retireMs: number): Result<TokenKeyInfo[]> {
    const rotated = this.#change(() => this.#keys.rotateTokenKeys(actor, retireMs, Date.now()))
    this.#alarm.schedule()
    return rotated
  }

  findUser(id: string): TenantUser | null {
    return this.#hasSchema() ? this.#userRows.find(id) : null
  }

  listUsers(after: string, prefix: string, limit: number): TenantUser[] {
    return this.#hasSchema() ? this.#userRows.list(after, prefix, limit) : []
  }

  changeUser(by: Administrator, id: string, change: UserChange): Promise<Result<TenantUser>> {
    return this.#administer(id, (admin) => admin.changeUser(by, id, change, Date.now()))
  }

  setUserStatus(by: Administrator, id: string, status: "active" | "suspended"): Promise<Result<TenantUser>> {
    return this.#administer(id, (admin) => admin.setStatus(by, id, status, Date.now()))
  }

  override recordEvent(actor: Actor, event: AuditEvent): void {
    if (this.#isErased()) return
    this.migrate()
    this.#auditRows.append(actor, event, Date.now())
  }

  recordFailure(actor: Actor, event: AuditEvent): void {
    // Anybody can name any tenant.
    if (!this.#hasSchema() || this.#isErased()) return
    this.#auditRows.appendFailure(actor, event, Date.now())
  }

  listAudit(filter: AuditFilter, limit: number): AuditPage {
    if (!this.#hasSchema()) return { entries: [], next: null, head: this.#auditRows.start }
    return this.#auditRows.list(filter, limit)
  }

  beginAuditExport(actor: Actor): AuditFileHeader {
    this.recordEvent(actor, { action: "audit.exported" })
    const [base, head] = [this.#auditRows.readBase(), this.#auditRows.readHead()]
    return { type: "audit", version: 1, tenant: this.#tenant, base, head }
  }

  listAuditAfter(seq: number, limit: number): AuditEntry[] {
    return this.#hasSchema() ? this.#auditRows.listAfter(seq, limit) : []
  }

  checkAudit(after: AuditHead | null, known: AuditHead | null, limit: number): AuditCheck {
    const { start } = this.#auditRows
    if (!this.#hasSchema()) return { rows: 0, firstBad: null, last: start, isDone: true, head: start }
    return checkAuditRows(this.#auditRows, after, known, limit)
  }

  /** Changes a user, and sends the notice that the change has added, if any. The alarm repeats a failed notice. */
  async #administer(id: string, change: (admin: UserAdmin) => Result<TenantUser>): Promise<Result<TenantUser>> {
    if (!this.#hasSchema()) return fail({ reason: "user_unknown" })
    const changed = change(
      new UserAdmin(this.#userRows, this.#auditRows, this.#userNotices, new IssuerRows(this.ctx.storage.sql)),
    )
    if (!changed.ok) return changed
    this.#alarm.schedule()
    await this.#userNotices.send(id, Date.now())
    this.#alarm.schedule()
    return changed
  }

  /** Whether nothing may be written any more. Late requests can still arrive. */
  #isErased(): boolean {
    return this.getStanding().status === "erased"
  }

  /** Runs a change in one transaction, with its row of the audit log. Errors: `tenant_erased`. */
  #change<T>(run: () => Result<T>): Result<T> {
    if (this.#isErased()) return fail({ reason: "tenant_erased" })
    this.migrate()
    return this.ctx.storage.transactionSync(run)
  }

  async listIssuers(): Promise<IssuerView[]> {
    return (await this.#readIssuers())?.list() ?? []
  }

  async putIssuer(manager: Administrator, name: string, issuer: IssuerInput): Promise<Result<IssuerView>> {
    if (this.#isErased()) return fail({ reason: "tenant_erased" })
    this.migrate()
    return await (await this.#loadIssuers()).put(manager, name, issuer)
  }

  async removeIssuer(manager: Administrator, name: string): Promise<Result<null>> {
    const issuers = await this.#readIssuers()
    return issuers === null ? fail({ reason: "issuer_unknown" }) : await issuers.remove(manager, name)
  }

  async getIssuerKeys(issuer: string, audience: string, kid: string | null): Promise<IssuerKeys | null> {
    return (await (await this.#readIssuers())?.getKeys({ issuer, audience }, kid)) ?? null
  }

  async getSignInKeys(name: string, kid: string | null): Promise<IssuerKeys | null> {
    return (await (await this.#readIssuers())?.getKeysByName(name, kid)) ?? null
  }

  async getSignInClient(name: string): Promise<SignInClient | "secret_unreadable" | null> {
    return (await (await this.#readIssuers())?.getClient(name)) ?? null
  }

  async admitSignIn(user: SignInUser): Promise<TenantUser | null> {
    return (await this.#readIssuers())?.admit(user, this.#userRows) ?? null
  }

  /** Null if nothing was ever stored here. */
  async #readIssuers(): Promise<TenantIssuers | null> {
    return hasSchema(this.ctx.storage.sql) ? await this.#loadIssuers() : null
  }

  async #loadIssuers(): Promise<TenantIssuers> {
    const { TenantIssuers: Issuers } = await import("./tenant-issuers.ts")
    this.#issuers ??= new Issuers({
      storage: this.ctx.storage,
      env: this.env,
      tenant: this.#tenant,
      auditRows: this.#auditRows,
      notices: this.#userNotices,
      alarm: this.#alarm,
    })
    return this.#issuers
  }

  #hasSchema(): boolean {
    return hasSchema(this.ctx.storage.sql)
  }

  protected override migrate(): void {
    runMigrations(this.ctx.storage, MIGRATIONS)
  }

  #writeAgentRow(name: string, config: string | null): void {
    this.migrate()
    this.ctx.storage.sql.exec("INSERT OR REPLACE INTO agents (name, config) VALUES (?, ?)", name, config)
  }

  #readConfiguredAgents(): Map<string, Agent | null> {
    if (!this.#hasSchema()) return new Map()
    const rows = this.ctx.storage.sql.exec<{ name: string; config: string | null }>("SELECT * FROM agents").toArray()
    // Written by `putAgent`.
    return new Map(
      rows.map(({ name, config }) => [name, config === null ? null : (parseJson(config) as unknown as Agent)]),
    )
  }
}
