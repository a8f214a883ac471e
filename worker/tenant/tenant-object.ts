/**
 * tenant-object.ts: the Durable Object of one tenant: its agents and its settings.
 *
 * Until something is configured, it stores nothing and has the default agents.
 */

import { DurableObject } from "cloudflare:workers"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import { parseJson } from "../../shared/json.ts"
import { MAX_AGENTS } from "../../shared/limits.ts"
import type { Env } from "../env.ts"
import { hasSchema, runMigrations } from "../platform/migrate.ts"
import type { Actor } from "../platform/rpc/actor.ts"
import { JOB_TABLES, JobRows } from "../leaving/job-rows.ts"
import type { LeavingHost } from "../leaving/leaving-host.ts"
import type { TenantLeaving } from "../leaving/tenant-leaving.ts"
import {
  type Agent,
  type AgentView,
  DEFAULT_AGENTS,
  GENERAL_AGENT_NAME,
  NO_SETTINGS,
  type TenantSettings,
  createAgentView,
} from "../settings/agent-config.ts"
import type { ArchiveFile, ExportView, ImportView, Receipt, TenantStanding } from "../settings/leaving-rpc.ts"
import type { NewUser, TenantRpc, TenantUser } from "../settings/tenant-rpc.ts"
import { isEmptySettings, mergeSettings, readDeploymentSettings } from "../settings/tenant-settings.ts"
import { AUDIT_TABLE } from "./audit-rows.ts"
import { createTenantContent } from "./tenant-content.ts"
import { USER_TABLE, UserRows } from "./user-rows.ts"

/** A row of `agents` without a configuration is a default agent that was removed. */
const MIGRATIONS: readonly string[] = [
  "CREATE TABLE agents (name TEXT PRIMARY KEY, config TEXT) WITHOUT ROWID",
  "CREATE TABLE settings (one INTEGER PRIMARY KEY CHECK (one = 1), config TEXT NOT NULL)",
  USER_TABLE,
  AUDIT_TABLE,
  JOB_TABLES,
]

/** When the alarm runs again if the process is killed while a job runs, in milliseconds. */
const JOB_STALL_MS = 10_000

export class Tenant extends DurableObject<Env> implements TenantRpc {
  readonly #userRows: UserRows
  readonly #leavingHost: LeavingHost

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    const { storage } = ctx
    this.#userRows = new UserRows(storage.sql)
    const content = createTenantContent(storage.sql)
    this.#leavingHost = {
      env,
      storage,
      content,
      rows: new JobRows(storage.sql),
      now: Date.now,
      armAlarm: () => ctx.waitUntil(this.#scheduleAlarm()),
    }
    if (hasSchema(ctx.storage.sql)) runMigrations(ctx.storage, MIGRATIONS)
  }

  listAgents(): Agent[] {
    const agents = new Map<string, Agent | null>(DEFAULT_AGENTS.map((agent) => [agent.name, agent]))
    // A replaced default agent keeps its place in the list. Null: a removed one.
    for (const [name, agent] of this.#readConfiguredAgents()) agents.set(name, agent)
    return [...agents.values()].filter((agent) => agent !== null)
  }

  getAgentView(name: string): AgentView | null {
    const view = createAgentView(this.listAgents(), name)
    const settings = this.getSettings()
    return view === null || isEmptySettings(settings) ? view : { ...view, settings }
  }

  getSettings(): TenantSettings {
    return mergeSettings(this.#readOwnSettings(), readDeploymentSettings(this.env))
  }

  setSettings(settings: TenantSettings): TenantSettings {
    runMigrations(this.ctx.storage, MIGRATIONS)
    const config = JSON.stringify(settings)
    this.ctx.storage.sql.exec("INSERT OR REPLACE INTO settings (one, config) VALUES (1, ?)", config)
    return this.getSettings()
  }

  #readOwnSettings(): TenantSettings {
    if (!hasSchema(this.ctx.storage.sql)) return NO_SETTINGS
    const [row] = this.ctx.storage.sql.exec<{ config: string }>("SELECT config FROM settings").toArray()
    // Written by `setSettings`.
    return row === undefined ? NO_SETTINGS : (parseJson(row.config) as unknown as TenantSettings)
  }

  putAgent(agent: Agent): Result<null> {
    const isKnown = this.listAgents().some(({ name }) => name === agent.name)
    if (!isKnown && this.listAgents().length >= MAX_AGENTS) return fail({ reason: "agents_full", max: MAX_AGENTS })
    this.#writeAgentRow(agent.name, JSON.stringify(agent))
    return succeed(null)
  }

  removeAgent(name: string): Result<null> {
    const isKnown = this.listAgents().some((agent) => agent.name === name)
    if (!isKnown || name === GENERAL_AGENT_NAME) return fail({ reason: "agent_unknown" })
    this.#writeAgentRow(name, null)
    return succeed(null)
  }

  registerUser(user: NewUser): TenantUser {
    runMigrations(this.ctx.storage, MIGRATIONS)
    return this.#userRows.register(user, Date.now())
  }

  getStanding(): TenantStanding {
    if (!hasSchema(this.ctx.storage.sql)) return { status: "open", erases_at: null }
    const { status, erases } = this.#leavingHost.rows.readStanding()
    return { status, erases_at: erases }
  }

  async leave(tenant: string, actor: Actor): Promise<Result<TenantStanding>> {
    return await this.#changeByJob((leaving) => leaving.leave(tenant, actor))
  }

  async restoreTenant(actor: Actor): Promise<Result<TenantStanding>> {
    return await this.#changeByJob((leaving) => leaving.restore(actor))
  }

  async startExport(tenant: string, actor: Actor): Promise<Result<ExportView>> {
    return await this.#changeByJob((leaving) => leaving.startExport(tenant, actor))
  }

  async listExports(): Promise<ExportView[]> {
    return await this.#readJobs([], (leaving) => leaving.listExports())
  }

  async findExport(id: string): Promise<ExportView | null> {
    return await this.#readJobs(null, (leaving) => leaving.findExport(id))
  }

  async removeExport(id: string, actor: Actor): Promise<boolean> {
    return await this.#changeByJob((leaving) => leaving.removeExport(id, actor))
  }

  async startImport(tenant: string, actor: Actor, manifest: string): Promise<Result<ImportView>> {
    return await this.#changeByJob((leaving) => leaving.startImport(tenant, actor, manifest))
  }

  async listImports(): Promise<ImportView[]> {
    return await this.#readJobs([], (leaving) => leaving.listImports())
  }

  async findImport(id: string): Promise<ImportView | null> {
    return await this.#readJobs(null, (leaving) => leaving.findImport(id))
  }

  async findImportFile(id: string, n: number): Promise<ArchiveFile | null> {
    return await this.#readJobs(null, (leaving) => leaving.findImportFile(id, n))
  }

  async addImportFile(id: string, n: number): Promise<ImportView | null> {
    return await this.#changeByJob((leaving) => leaving.addImportFile(id, n))
  }

  async removeImport(id: string, actor: Actor): Promise<boolean> {
    return await this.#changeByJob((leaving) => leaving.removeImport(id, actor))
  }

  async eraseUser(tenant: string, actor: Actor, user: string, isOwner: boolean): Promise<Result<Receipt>> {
    return await this.#changeByJob((leaving) => leaving.eraseUser(tenant, actor, user, isOwner))
  }

  async listReceipts(): Promise<Receipt[]> {
    return await this.#readJobs([], (leaving) => leaving.listReceipts())
  }

  async findReceipt(id: string): Promise<Receipt | null> {
    return await this.#readJobs(null, (leaving) => leaving.findReceipt(id))
  }

  async getTenantReceipt(): Promise<Receipt | null> {
    return await this.#readJobs(null, (leaving) => leaving.getTenantReceipt())
  }

  override async alarm(): Promise<void> {
    if (!hasSchema(this.ctx.storage.sql)) return
    await this.ctx.storage.setAlarm(Date.now() + JOB_STALL_MS)
    // Loaded on demand: most objects never run a job.
    const { runDueJobs } = await import("../leaving/job-runner.ts")
    await runDueJobs(this.#leavingHost)
    await this.#scheduleAlarm()
  }

  async #readJobs<T>(none: T, read: (leaving: TenantLeaving) => T): Promise<T> {
    return hasSchema(this.ctx.storage.sql) ? read(await this.#openLeaving()) : none
  }

  /** Runs a call that may add or remove jobs. The alarm runs them. */
  async #changeByJob<T>(change: (leaving: TenantLeaving) => T | Promise<T>): Promise<T> {
    runMigrations(this.ctx.storage, MIGRATIONS)
    const changed = await change(await this.#openLeaving())
    await this.#scheduleAlarm()
    return changed
  }

  async #openLeaving(): Promise<TenantLeaving> {
    const { TenantLeaving } = await import("../leaving/tenant-leaving.ts")
    return new TenantLeaving(this.#leavingHost)
  }

  async #scheduleAlarm(): Promise<void> {
    const due = this.#leavingHost.rows.findNextDue()
    if (due === null) await this.ctx.storage.deleteAlarm()
    else await this.ctx.storage.setAlarm(Math.max(due, Date.now()))
  }

  #writeAgentRow(name: string, config: string | null): void {
    runMigrations(this.ctx.storage, MIGRATIONS)
    this.ctx.storage.sql.exec("INSERT OR REPLACE INTO agents (name, config) VALUES (?, ?)", name, config)
  }

  #readConfiguredAgents(): Map<string, Agent | null> {
    if (!hasSchema(this.ctx.storage.sql)) return new Map()
    const rows = this.ctx.storage.sql.exec<{ name: string; config: string | null }>("SELECT * FROM agents").toArray()
    // Written by `putAgent`.
    return new Map(
      rows.map(({ name, config }) => [name, config === null ? null : (parseJson(config) as unknown as Agent)]),
    )
  }
}
