/**
 * metered-directory.ts: the calls of a user's directory about usage, and their share of its alarm.
 */

import { DurableObject } from "cloudflare:workers"
import type { TenantGrant } from "../../shared/usage/user-account.ts"
import type { UsageEntry } from "../../shared/usage/usage-totals.ts"
import type { Env } from "../env.ts"
import { hasSchema } from "../platform/migrate.ts"
import { describeError, logError } from "../platform/log.ts"
import { tenantStub } from "../platform/rpc/object-stubs.ts"
import { readTimeLimits } from "../platform/time-limits.ts"
import { waitAtMost } from "../platform/timeout.ts"
import { type BatchId, DirectoryUsage } from "./directory-usage.ts"
import type { UsageReport } from "../../shared/usage/usage-report.ts"

/** Upper bound for the next alarm, in milliseconds from now: a token may be valid forever. */
const MAX_ALARM_MS = 30 * 24 * 60 * 60_000

export abstract class MeteredDirectory extends DurableObject<Env> {
  readonly #usage: DirectoryUsage

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    // The object's name is `tenant:user`.
    const [tenant = "", user = ""] = (ctx.id.name ?? "").split(":", 2)
    const { usageBatchMs, usageSpreadMs } = readTimeLimits(env)
    this.#usage = new DirectoryUsage({
      sql: ctx.storage.sql,
      now: Date.now,
      batchMs: usageBatchMs + Math.random() * usageSpreadMs,
      runInTransaction: (write) => ctx.storage.transactionSync(write),
      sendBatch: async (batch) => this.onBatchSent(await tenantStub(env, tenant).addUsage(user, batch), batch),
      onReport: (entries) => this.countUsage(entries),
      wakeBy: (atMs) => ctx.waitUntil(this.#wakeBy(atMs)),
    })
  }

  /** Creates the tables of the directory. */
  protected abstract migrate(): void

  /** Called when the tenant has added a batch, with the budgets from its reply. */
  protected onBatchSent(_grant: TenantGrant | null, _batch: BatchId): void {}

  /** Whether the tenant should be asked before a batch is full. */
  protected needsRenewal(): boolean {
    return false
  }

  /** The entries that are in no batch, and with `after` those of the newest batch, if it is later than that one. */
  protected readUnsent(after: { readonly included: BatchId | null } | null): UsageEntry[] {
    return this.#usage.readUnsent(after)
  }

  /** The newest batch that the tenant is known to have; null: unknown. */
  protected getAcknowledgedBatch(): BatchId | null {
    return this.#usage.getAcknowledged()
  }

  /** Called in the transaction that adds a report, once for each. */
  protected countUsage(_entries: readonly UsageEntry[]): void {}

  endUsage(reports: readonly UsageReport[]): void {
    for (const report of reports) this.addUsage(report, report === reports.at(-1))
  }

  async flushUsage(): Promise<void> {
    if (hasSchema(this.ctx.storage.sql)) await this.#usage.flush()
  }

  readUsage(from: string, to: string): UsageEntry[] {
    return hasSchema(this.ctx.storage.sql) ? this.#usage.readTotals(from, to) : []
  }

  /** Adds a report of a session, once. */
  protected addUsage(report: UsageReport, isLast = false): void {
    this.migrate()
    const isBatchDue = this.ctx.storage.transactionSync(() => this.#usage.add(report, isLast))
    if (isBatchDue || this.needsRenewal()) this.ctx.waitUntil(this.flushUsageSafely())
  }

  /** Like `flushUsage`, but never rejects: the alarm repeats a failed flush. */
  protected async flushUsageSafely(): Promise<void> {
    try {
      await this.flushUsage()
    } catch (error) {
      logError("usage_not_sent", { error: describeError(error) })
    }
  }

  /** Like `flushUsageSafely`, but waits at most `maxMs`. The batch continues afterwards, and `setAlarmBy` allows for it. */
  protected async flushUsageBriefly(maxMs: number): Promise<void> {
    await waitAtMost(this.flushUsageSafely(), maxMs)
  }

  /** Sets the alarm for `atMs`, or earlier if a batch must be sent before. Infinity: only batches need the alarm. */
  protected setAlarmBy(atMs: number): void {
    const { storage } = this.ctx
    const next = Math.min(atMs, this.#usage.nextBatchAt() ?? Infinity)
    const setting =
      next === Infinity ? storage.deleteAlarm() : storage.setAlarm(Math.min(next, Date.now() + MAX_ALARM_MS))
    this.ctx.waitUntil(setting)
  }

  /** An alarm that is set for an earlier time stays. */
  async #wakeBy(atMs: number): Promise<void> {
    const { storage } = this.ctx
    const current = await storage.getAlarm()
    if (current === null || current > atMs) await storage.setAlarm(atMs)
  }
}
