/**
 * metered-directory.ts: the calls of a user's directory about usage, and what they need of its alarm.
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

/** Upper bound for the next alarm, in milliseconds from now: a token may be valid for ever. */
const MAX_ALARM_MS = 30 * 24 * 60 * 60_000

export abstract class MeteredDirectory extends DurableObject<Env> {
  readonly #usage: DirectoryUsage

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    // The object's name is `tenant:user`.
    const [tenant = "", user = ""] = (ctx.id.name ?? "").split(":", 2)
    const { usageWaitMs, usageSpreadMs } = readTimeLimits(env)
    this.#usage = new DirectoryUsage({
      sql: ctx.storage.sql,
      now: Date.now,
      name: ctx.id.name ?? "",
      waitMs: usageWaitMs + Math.random() * usageSpreadMs,
      runInTransaction: (write) => ctx.storage.transactionSync(write),
      sendBatch: async (batch) => this.onBatchSent(await tenantStub(env, tenant).addUsage(user, batch), batch),
      onReport: (entries) => this.countUsage(entries),
      wakeBy: (atMs) => ctx.waitUntil(this.#wakeBy(atMs)),
    })
  }

  /** Creates the tables of the directory. */
  protected abstract migrate(): void

  /** Called when the tenant has added a batch, with what it says about budgets. */
  protected onBatchSent(_grant: TenantGrant | null, _batch: BatchId): void {}

  /** Whether the tenant should be asked at once. Otherwise a full batch waits. */
  protected needsRenewal(): boolean {
    return false
  }

  /** What is in no batch yet, and with `after` the newest batch, if it is later than that one. */
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
    if (this.needsRenewal()) this.ctx.waitUntil(this.flushUsageSafely())
    else if (isBatchDue) this.#usage.flushLater()
  }

  /** Like `flushUsage`, and never rejects: what failed is repeated by the alarm. */
  protected async flushUsageSafely(): Promise<void> {
    await this.#logFailure(this.flushUsage())
  }

  async #logFailure(flushing: Promise<void>): Promise<void> {
    try {
      await flushing
    } catch (error) {
      logError("usage_not_sent", { error: describeError(error) })
    }
  }

  /** Sends a batch that is due. Never rejects, and does not wait longer than that: the batch goes on, and `setAlarmBy` allows for it. */
  protected async flushDueUsage(maxMs: number): Promise<void> {
    await waitAtMost(this.#logFailure(this.#usage.flushDue()), maxMs)
  }

  /** Sets the alarm for that time, or earlier if a batch must be sent before. Infinity: it is needed for nothing else. */
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
