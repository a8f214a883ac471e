/**
 * leaving-tenant.ts: the calls of the tenant object about export, import and erasure, and the alarm that runs their jobs.
 */

import { DurableObject } from "cloudflare:workers"
import type { Result } from "../../shared/fault.ts"
import type { PageSettings, Receipt, TenantStanding } from "../../shared/protocol/http-body.ts"
import type { Env } from "../env.ts"
import { JobRows } from "../leaving/job-rows.ts"
import type { LeavingHost } from "../leaving/leaving-host.ts"
import type { TenantLeaving } from "../leaving/tenant-leaving.ts"
import { hasSchema } from "../platform/migrate.ts"
import type { Actor } from "../platform/rpc/actor.ts"
import type { TenantSettings } from "../settings/agent-config.ts"
import type {
  ArchiveFile,
  BackupStart,
  BackupView,
  ExportView,
  ImportView,
  LeavingRpc,
} from "../settings/leaving-rpc.ts"
import type { AlarmSource } from "./tenant-alarm.ts"
import { createTenantContent } from "./tenant-content.ts"

/** When the alarm runs again if the process is killed while a job runs, in milliseconds. */
const JOB_STALL_MS = 10_000

/** Loaded on demand, because most objects never run a job, and then kept for all tenants of the isolate. */
let jobRunner: typeof import("../leaving/job-runner.ts") | undefined

export abstract class LeavingTenant extends DurableObject<Env> implements LeavingRpc {
  readonly #host: LeavingHost
  protected readonly jobs: AlarmSource

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    const { storage } = ctx
    const content = createTenantContent(env, storage.sql, ctx.id.name ?? "")
    const armAlarm = (): void => this.scheduleAlarm()
    this.#host = { env, storage, content, rows: new JobRows(storage.sql), now: Date.now, armAlarm }
    this.jobs = {
      nextAlarmAt: () => this.#host.rows.findNextDue(),
      handleAlarm: () => this.#runJobs(),
    }
  }

  /** Sets the alarm to the earliest time that a source wants. */
  protected abstract scheduleAlarm(): void

  /** Creates the tables of the tenant object. */
  protected abstract migrate(): void

  getStanding(): TenantStanding {
    if (!hasSchema(this.ctx.storage.sql)) return { status: "open", erases_at: null }
    const { status, erases } = this.#host.rows.readStanding()
    return { status, erases_at: erases }
  }

  abstract getSettings(): TenantSettings

  getPageSettings(): PageSettings {
    const { erases_at } = this.getStanding()
    return erases_at === null ? this.getSettings() : { ...this.getSettings(), erases_at }
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

  async startBackup(tenant: string, dueMs: number): Promise<BackupStart> {
    // Nothing was ever stored of a tenant without tables, and nothing is stored now.
    if (!hasSchema(this.ctx.storage.sql)) return "none"
    return await this.#changeByJob((leaving) => leaving.startBackup(tenant, dueMs))
  }

  async listBackups(): Promise<BackupView[]> {
    return await this.#readJobs([], (leaving) => leaving.listBackups())
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

  async #runJobs(): Promise<void> {
    await this.ctx.storage.setAlarm(Date.now() + JOB_STALL_MS)
    jobRunner ??= await import("../leaving/job-runner.ts")
    await jobRunner.runDueJobs(this.#host)
  }

  async #readJobs<T>(none: T, read: (leaving: TenantLeaving) => T): Promise<T> {
    return hasSchema(this.ctx.storage.sql) ? read(await this.#openLeaving()) : none
  }

  /** Runs a call that may add or remove jobs. The alarm runs them. */
  async #changeByJob<T>(change: (leaving: TenantLeaving) => T | Promise<T>): Promise<T> {
    this.migrate()
    const changed = await change(await this.#openLeaving())
    this.scheduleAlarm()
    return changed
  }

  async #openLeaving(): Promise<TenantLeaving> {
    const { TenantLeaving } = await import("../leaving/tenant-leaving.ts")
    return new TenantLeaving(this.#host)
  }
}
