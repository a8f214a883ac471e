/**
 * tenant-object.ts: the Durable Object of one tenant. Each method forwards to the part that owns the rows. `TenantRpc`
 * describes the methods. Before its first write, it stores nothing and has the default agents.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import type { AuditEntry, AuditFileHeader, AuditHead, AuditPage } from "../../shared/protocol/audit-entry.ts"
import type { PageSettings, Receipt, TenantStanding } from "../../shared/protocol/http-body.ts"
import type { BudgetChange } from "../../shared/usage/budget-change.ts"
import type { BudgetTable } from "../../shared/usage/budget-limits.ts"
import type { PriceEntry } from "../../shared/usage/price-entry.ts"
import type { UsagePage, UsageQuery } from "../../shared/usage/usage-page.ts"
import type { UsageReport } from "../../shared/usage/usage-report.ts"
import type { TenantGrant } from "../../shared/usage/user-account.ts"
import type { Env } from "../env.ts"
import { JOB_TABLES } from "../leaving/job-rows.ts"
import { TENANT_BYTES_TABLES } from "../limits/tenant-bytes.ts"
import { ObjectTables } from "../platform/migrate.ts"
import type { Actor, Administrator } from "../platform/rpc/actor.ts"
import type { Role } from "../platform/rpc/claims.ts"
import type { Agent, AgentView, TenantSettings } from "../settings/agent-config.ts"
import type { AuditCheck, AuditEvent, AuditFilter } from "../settings/audit-event.ts"
import type { IssuerInput, IssuerKeys, IssuerView, SignInClient } from "../settings/issuer-config.ts"
import type * as Leaving from "../settings/leaving-rpc.ts"
import type * as Access from "../settings/tenant-access.ts"
import type { FoundUsers, NewUser, SignInUser, TenantRpc, TenantUser, UserBytesReport } from "../settings/tenant-rpc.ts"
import type { UserChange } from "../settings/user-change.ts"
import { BUDGET_TABLE } from "../usage/budget-rows.ts"
import { PRICE_TABLE } from "../usage/price-rows.ts"
import { ENDED_USER_LEDGERS, TENANT_USAGE_TABLES } from "../usage/tenant-usage.ts"
import { CARD_TABLE } from "./cards/card-table.ts"
import { IssuerLoader } from "./issuer-loader.ts"
import { API_KEY_TABLE } from "./rows/api-key-rows.ts"
import { AUDIT_TABLES } from "./rows/audit-rows.ts"
import { ISSUER_TABLES } from "./rows/issuer-rows.ts"
import { TENANT_TABLE } from "./rows/tenant-row.ts"
import { TOKEN_KEY_TABLE } from "./rows/token-key-rows.ts"
import { USER_TABLE } from "./rows/user-rows.ts"
import { USER_KEY_FILL, USER_KEY_TABLE } from "./rows/user-search-keys.ts"
import { TenantAlarm } from "./tenant-alarm.ts"
import { TenantAudit } from "./tenant-audit.ts"
import { TenantBudgets } from "./tenant-budgets.ts"
import { AGENT_TABLE, SETTINGS_TABLE, TenantConfiguration } from "./tenant-configuration.ts"
import { TenantHost } from "./tenant-host.ts"
import { TenantJobs } from "./tenant-jobs.ts"
import { TenantKeys } from "./tenant-keys.ts"
import { TenantMetering } from "./tenant-metering.ts"
import { TenantUsers } from "./tenant-users.ts"
import { THEME_TABLE } from "./theme/theme-rows.ts"
import { MCP_CONNECTION_TABLE, MCP_TABLE } from "./mcp/mcp-table.ts"
import { listNamedModels, MODEL_TABLE } from "./models/model-rows.ts"
import { USER_NOTICE_TABLE } from "./user-notices.ts"
import { AGENT_SECRET_TABLE, WEBHOOK_TABLE } from "./webhooks/webhook-table.ts"
import { WebhookTenant } from "./webhooks/webhook-tenant.ts"

type KeyResult = Result<Access.ApiKeyInfo>
const MIGRATIONS: readonly string[] = [
  AGENT_TABLE,
  SETTINGS_TABLE,
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
  ENDED_USER_LEDGERS,
  USER_KEY_TABLE,
  USER_KEY_FILL,
  THEME_TABLE,
  MODEL_TABLE,
  MCP_TABLE,
  CARD_TABLE,
  WEBHOOK_TABLE,
  AGENT_SECRET_TABLE,
  MCP_CONNECTION_TABLE,
]

export class Tenant extends WebhookTenant implements TenantRpc {
  protected override readonly host: TenantHost
  readonly #configuration: TenantConfiguration
  readonly #users: TenantUsers
  readonly #keys: TenantKeys
  readonly #issuers: IssuerLoader
  readonly #audit: TenantAudit
  readonly #metering: TenantMetering
  readonly #budgets: TenantBudgets
  readonly #jobs: TenantJobs
  readonly #alarm: TenantAlarm

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.host = new TenantHost(ctx, env, new ObjectTables(ctx.storage, MIGRATIONS), () => this.#alarm.schedule())
    this.#configuration = new TenantConfiguration(this.host)
    this.#users = new TenantUsers(this.host)
    this.#keys = new TenantKeys(this.host)
    this.#issuers = new IssuerLoader(this.host)
    this.#audit = new TenantAudit(this.host)
    this.#metering = new TenantMetering(this.host)
    this.#budgets = new TenantBudgets(this.host, this.#metering)
    this.#jobs = new TenantJobs(this.host)
    this.#alarm = new TenantAlarm(ctx, [this.host.notices, this.#keys, this.#jobs, this.#issuers, this.#users])
    if (this.host.tables.exist() && this.#users.nextAlarmAt() !== null) this.#alarm.schedule()
  }

  override async alarm(): Promise<void> {
    if (this.host.tables.exist()) await this.#alarm.handle(Date.now())
  }

  // Agents and settings

  listAgents(): Agent[] {
    return this.#configuration.listAgents()
  }

  getAgentView(name: string): AgentView | null {
    const view = this.#configuration.createView(name)
    if (view === null) return null
    const { self } = view
    const names = [self.model ?? "", ...(self.fallbacks ?? [])]
    const models = this.host.tables.exist() ? listNamedModels(this.host.sql, names) : []
    const prices = this.#metering.listPricesOf(self, models)
    const withModels = models.length === 0 ? view : { ...view, models }
    const withPrices = prices.length === 0 ? withModels : { ...withModels, prices }
    return this.#budgets.hasAny() ? { ...withPrices, hasBudgets: true } : withPrices
  }

  putAgent(actor: Actor, agent: Agent): Result<null> {
    return this.#configuration.putAgent(actor, agent)
  }

  removeAgent(actor: Actor, name: string): Result<null> {
    return this.#configuration.removeAgent(actor, name)
  }

  getSettings(): TenantSettings {
    return this.#configuration.getSettings()
  }

  getPageSettings(): PageSettings {
    return this.#configuration.getPageSettings()
  }

  setSettings(actor: Actor, settings: TenantSettings): TenantSettings {
    return this.#configuration.setSettings(actor, settings)
  }

  // Users

  registerUser(user: NewUser): ReturnType<TenantRpc["registerUser"]> {
    const registered = this.#users.register(user)
    const grant = this.#budgets.getGrant(user.id)
    return grant === null ? registered : { ...registered, grant }
  }

  findUser(id: string): TenantUser | null {
    return this.#users.find(id)
  }

  listUsers(after: string, prefix: string, limit: number): TenantUser[] {
    return this.#users.list(after, prefix, limit)
  }

  async searchUsers(text: string, after: string, limit: number): Promise<Result<FoundUsers>> {
    return (await this.#users.administer()).search(text, after, limit)
  }

  async changeUser(by: Administrator, id: string, change: UserChange): Promise<Result<TenantUser>> {
    return await (await this.#users.administer()).change(by, id, change)
  }

  async setUserStatus(by: Administrator, id: string, status: "active" | "suspended"): Promise<Result<TenantUser>> {
    return await (await this.#users.administer()).setStatus(by, id, status)
  }

  // The tenant itself, its API keys and its token keys

  async createTenant(actor: Actor, tenant: Access.NewTenant, key: Access.NewApiKey): Promise<Result<null>> {
    return (await this.#keys.administer()).createTenant(actor, tenant, key, Date.now())
  }

  getAccess(): Access.TenantAccess {
    return this.#keys.getAccess(Date.now())
  }

  listKeys(): Access.ApiKeyInfo[] {
    return this.#keys.listKeys()
  }

  async addKey(manager: Administrator, key: Access.NewApiKey): Promise<KeyResult> {
    return (await this.#keys.administer()).addKey(manager, key, Date.now())
  }

  async removeKey(manager: Administrator, id: string): Promise<Result<null>> {
    return (await this.#keys.administer()).removeKey(manager, id, Date.now())
  }

  async rotateKey(by: Administrator, id: string, next: Access.StoredKey, graceMs: number): Promise<KeyResult> {
    return (await this.#keys.administer()).rotateKey(by, id, next, graceMs, Date.now())
  }

  useKey(use: Access.ApiKeyUse): Result<Access.ApiKeyUser> {
    return this.#keys.useKey(use, Date.now())
  }

  admitTokenUser(actor: Actor, user: NewUser): Result<Role> {
    return this.#keys.admitTokenUser(actor, user, Date.now())
  }

  listTokenKeys(): Access.TokenKeyInfo[] {
    return this.#keys.listTokenKeys(Date.now())
  }

  async rotateTokenKeys(actor: Actor, retireMs: number): Promise<Result<Access.TokenKeyInfo[]>> {
    return (await this.#keys.administer()).rotateTokenKeys(actor, retireMs, Date.now())
  }

  // OpenID providers

  async listIssuers(): Promise<IssuerView[]> {
    return (await this.#issuers.read())?.list() ?? []
  }

  async putIssuer(manager: Administrator, name: string, issuer: IssuerInput): Promise<Result<IssuerView>> {
    if (this.host.isErased()) return fail({ reason: "tenant_erased" })
    return await (await this.#issuers.open()).put(manager, name, issuer)
  }

  async removeIssuer(manager: Administrator, name: string): Promise<Result<null>> {
    const issuers = await this.#issuers.read()
    return issuers === null ? fail({ reason: "issuer_unknown" }) : await issuers.remove(manager, name)
  }

  async getIssuerKeys(issuer: string, audience: string, kid: string | null): Promise<IssuerKeys | null> {
    return (await (await this.#issuers.read())?.getKeys({ issuer, audience }, kid)) ?? null
  }

  async getSignInKeys(name: string, kid: string | null): Promise<IssuerKeys | null> {
    return (await (await this.#issuers.read())?.getKeysByName(name, kid)) ?? null
  }

  async getSignInClient(name: string): Promise<SignInClient | "secret_unreadable" | null> {
    return (await (await this.#issuers.read())?.getClient(name)) ?? null
  }

  async admitSignIn(user: SignInUser): Promise<TenantUser | null> {
    return (await this.#issuers.read())?.admit(user) ?? null
  }

  // The audit log

  recordEvent(actor: Actor, event: AuditEvent): void {
    this.host.record(actor, event)
  }

  recordFailure(actor: Actor, event: AuditEvent): void {
    this.#audit.recordFailure(actor, event)
  }

  listAudit(filter: AuditFilter, limit: number): AuditPage {
    return this.#audit.list(filter, limit)
  }

  beginAuditExport(actor: Actor): AuditFileHeader {
    return this.#audit.beginExport(actor)
  }

  listAuditAfter(seq: number, limit: number): AuditEntry[] {
    return this.#audit.listAfter(seq, limit)
  }

  async checkAudit(after: AuditHead | null, known: AuditHead | null, limit: number): Promise<AuditCheck> {
    return await this.#audit.check(after, known, limit)
  }

  // Usage, prices, budgets and stored bytes

  addUsage(user: string, batch: UsageReport): TenantGrant | null {
    this.#metering.addBatch(user, batch)
    return this.#budgets.getGrant(user)
  }

  readUsage(query: UsageQuery): UsagePage {
    return this.#metering.readPage(query)
  }

  listPrices(): readonly PriceEntry[] {
    return this.#metering.listPrices()
  }

  setPrices(actor: Actor, prices: readonly PriceEntry[], revision?: string): Result<readonly PriceEntry[]> {
    return this.#metering.setPrices(actor, prices, revision)
  }

  listBudgets(): BudgetTable {
    return this.#budgets.list()
  }

  changeBudgets(by: Administrator, change: BudgetChange): Result<BudgetTable> {
    return this.#budgets.change(by, change)
  }

  getBudgetGrant(user: string): TenantGrant | null {
    return this.#budgets.getGrant(user)
  }

  tellUserBytes({ user, bytes, n, isRequired }: UserBytesReport): Result<number> {
    if (this.host.isErased()) return succeed(n)
    this.host.tables.create()
    return this.host.storedBytes.apply(user, bytes, n, isRequired)
  }

  // Export, import, backup and erasure

  getStanding(): TenantStanding {
    return this.host.getStanding()
  }

  async leave(tenant: string, actor: Actor): Promise<Result<TenantStanding>> {
    return await this.#jobs.change((leaving) => leaving.leave(tenant, actor))
  }

  async restoreTenant(actor: Actor): Promise<Result<TenantStanding>> {
    return await this.#jobs.change((leaving) => leaving.restore(actor))
  }

  async startExport(tenant: string, actor: Actor): Promise<Result<Leaving.ExportView>> {
    return await this.#jobs.change((leaving) => leaving.startExport(tenant, actor))
  }

  async listExports(): Promise<Leaving.ExportView[]> {
    return await this.#jobs.read([], (leaving) => leaving.listExports())
  }

  async findExport(id: string): Promise<Leaving.ExportView | null> {
    return await this.#jobs.read(null, (leaving) => leaving.findExport(id))
  }

  async removeExport(id: string, actor: Actor): Promise<boolean> {
    return await this.#jobs.change((leaving) => leaving.removeExport(id, actor))
  }

  async startBackup(tenant: string, dueMs: number): Promise<Leaving.BackupStart> {
    // A tenant without tables has never stored anything, so there is nothing to back up.
    if (!this.host.tables.exist()) return "none"
    return await this.#jobs.change((leaving) => leaving.startBackup(tenant, dueMs))
  }

  async listBackups(): Promise<Leaving.BackupView[]> {
    return await this.#jobs.read([], (leaving) => leaving.listBackups())
  }

  async startImport(tenant: string, actor: Actor, manifest: string): Promise<Result<Leaving.ImportView>> {
    return await this.#jobs.change((leaving) => leaving.startImport(tenant, actor, manifest))
  }

  async listImports(): Promise<Leaving.ImportView[]> {
    return await this.#jobs.read([], (leaving) => leaving.listImports())
  }

  async findImport(id: string): Promise<Leaving.ImportView | null> {
    return await this.#jobs.read(null, (leaving) => leaving.findImport(id))
  }

  async findImportFile(id: string, n: number): Promise<Leaving.ArchiveFile | null> {
    return await this.#jobs.read(null, (leaving) => leaving.findImportFile(id, n))
  }

  async addImportFile(id: string, n: number): Promise<Leaving.ImportView | null> {
    return await this.#jobs.change((leaving) => leaving.addImportFile(id, n))
  }

  async removeImport(id: string, actor: Actor): Promise<boolean> {
    return await this.#jobs.change((leaving) => leaving.removeImport(id, actor))
  }

  async eraseUser(tenant: string, actor: Actor, user: string, isOwner: boolean): Promise<Result<Receipt>> {
    return await this.#jobs.change((leaving) => leaving.eraseUser(tenant, actor, user, isOwner))
  }

  async listReceipts(): Promise<Receipt[]> {
    return await this.#jobs.read([], (leaving) => leaving.listReceipts())
  }

  async findReceipt(id: string): Promise<Receipt | null> {
    return await this.#jobs.read(null, (leaving) => leaving.findReceipt(id))
  }

  async getTenantReceipt(): Promise<Receipt | null> {
    return await this.#jobs.read(null, (leaving) => leaving.getTenantReceipt())
  }
}
