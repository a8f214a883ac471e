/**
 * directory-metering.ts: the usage in a user's directory object. It adds the reports of sessions, and sends batches to
 * the tenant.
 */

import type { TenantGrant } from "../../shared/usage/user-account.ts"
import type { UsageEntry } from "../../shared/usage/usage-totals.ts"
import { describeError, logError } from "../platform/log.ts"
import { tenantStub } from "../platform/rpc/object-stubs.ts"
import { readTimeLimits } from "../platform/time-limits.ts"
import { waitAtMost } from "../platform/timeout.ts"
import type { DirectoryHost } from "./directory-host.ts"
import { type BatchId, DirectoryUsage } from "./directory-usage.ts"
import type { UsageReport } from "../../shared/usage/usage-report.ts"

/** Callbacks for the budgets, which count the same reports. */
export interface MeteringHooks {
  /** Called in the transaction that adds a report, once per report. */
  readonly onReport: (entries: readonly UsageEntry[]) => void
  /** Called after a transaction that was rolled back. */
  readonly onRollback: () => void
  /** Called with the budgets from the tenant's reply when the tenant has added a batch. */
  readonly onBatchSent: (grant: TenantGrant | null, batch: BatchId) => void
  /** Whether the tenant should be called at once. Otherwise, a full batch waits. */
  readonly needsRenewal: () => boolean
}

export class DirectoryMetering {
  readonly #host: DirectoryHost
  readonly #hooks: MeteringHooks
  readonly #usage: DirectoryUsage

  constructor(host: DirectoryHost, hooks: MeteringHooks) {
    this.#host = host
    this.#hooks = hooks
    const { ctx, env, tenant, user } = host
    const { usageWaitMs, usageSpreadMs } = readTimeLimits(env)
    this.#usage = new DirectoryUsage({
      sql: ctx.storage.sql,
      now: Date.now,
      name: ctx.id.name ?? "",
      waitMs: usageWaitMs + Math.random() * usageSpreadMs,
      runInTransaction: (write) => ctx.storage.transactionSync(write),
      sendBatch: async (batch) => hooks.onBatchSent(await tenantStub(env, tenant).addUsage(user, batch), batch),
      onReport: hooks.onReport,
      wakeBy: (atMs) => ctx.waitUntil(this.#wakeBy(atMs)),
    })
  }

  /** Adds the last reports of a session that is being erased. */
  end(reports: readonly UsageReport[]): void {
    for (const report of reports) this.add(report, report === reports.at(-1))
  }

  /** Adds a report of a session. Adding the same report again has no effect. */
  add(report: UsageReport, isLast = false): void {
    const { ctx, tables } = this.#host
    tables.create()
    try {
      const isBatchDue = ctx.storage.transactionSync(() => this.#usage.add(report, isLast))
      if (this.#hooks.needsRenewal()) ctx.waitUntil(this.flushSafely())
      else if (isBatchDue) this.#usage.flushLater()
    } catch (error) {
      this.#usage.forget()
      this.#hooks.onRollback()
      throw error
    }
  }

  /** Clears the state in memory. Call this after another part has changed or deleted the rows. */
  forget(): void {
    this.#usage.forget()
  }

  /** Sends the tenant all usage that it has not yet received. Rejects if that fails. */
  async flush(): Promise<void> {
    if (this.#host.tables.exist()) await this.#usage.flush()
  }

  /** Like `flush`. Returns the name of the ledger; null if nothing was ever reported. */
  async close(): Promise<string | null> {
    await this.flush()
    return this.#host.tables.exist() ? this.#usage.findLedger() : null
  }

  /** Like `flush`, but never rejects, because the alarm retries a failed flush. */
  async flushSafely(): Promise<void> {
    await this.#logFailure(this.flush())
  }

  async #logFailure(flushing: Promise<void>): Promise<void> {
    try {
      await flushing
    } catch (error) {
      logError("usage_not_sent", { error: describeError(error) })
    }
  }

  /**
   * Sends a batch that is due. Never rejects, and waits at most `maxMs`. Sending continues after that, and
   * `nextBatchAt` takes it into account.
   */
  async flushDue(maxMs: number): Promise<void> {
    await waitAtMost(this.#logFailure(this.#usage.flushDue()), maxMs)
  }

  /**
   * Returns the user's totals from one day to another, both inclusive, by day, model and agent. The totals are always
   * complete.
   */
  readTotals(from: string, to: string): UsageEntry[] {
    return this.#host.tables.exist() ? this.#usage.readTotals(from, to) : []
  }

  /**
   * Returns the entries that are not in any batch. With `after`, also returns the entries of the newest batch, unless
   * that is `after.included` or an earlier batch.
   */
  readUnsent(after: { readonly included: BatchId | null } | null): UsageEntry[] {
    return this.#usage.readUnsent(after)
  }

  /** Returns the newest batch that the tenant is known to have; null if unknown. */
  getAcknowledgedBatch(): BatchId | null {
    return this.#usage.getAcknowledged()
  }

  /** Returns when `flush` must be called, in milliseconds since 1970; null if the tenant has everything. */
  nextBatchAt(): number | null {
    return this.#usage.nextBatchAt()
  }

  /** Sets the alarm, unless it is set for an earlier time. */
  async #wakeBy(atMs: number): Promise<void> {
    const { storage } = this.#host.ctx
    const current = await storage.getAlarm()
    if (current === null || current > atMs) await storage.setAlarm(atMs)
  }
}
