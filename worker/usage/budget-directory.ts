/**
 * budget-directory.ts: the calls of a user's directory object about budgets.
 */

import { type Fault, type Result, succeed } from "../../shared/fault.ts"
import { sumSpending } from "../../shared/usage/budget-meter.ts"
import { toDay, toMonth } from "../../shared/usage/period.ts"
import type { UsageReport } from "../../shared/usage/usage-report.ts"
import type { UsageEntry } from "../../shared/usage/usage-totals.ts"
import {
  type PeriodSpending,
  SESSION_LEASE_MS,
  type SessionLease,
  type TenantGrant,
} from "../../shared/usage/user-account.ts"
import { type BudgetView, type HeldCounts, listBudgetViews } from "../../shared/usage/budget-view.ts"
import type { Env } from "../env.ts"
import { describeError, log } from "../platform/log.ts"
import { hasSchema } from "../platform/migrate.ts"
import { tenantStub } from "../platform/rpc/object-stubs.ts"
import { waitAtMost } from "../platform/timeout.ts"
import type { BatchId } from "./directory-usage.ts"
import { MeteredDirectory } from "./metered-directory.ts"
import { UserBudget } from "./user-budget.ts"

/**
 * Shortest time between two questions to the tenant, apart from reports: before a refusal, or if no budget is known. It doubles with each
 * further refusal, up to the maximum. Milliseconds.
 */
const ASK_PAUSE_MS = 5_000
const MAX_ASK_PAUSE_MS = 5 * 60_000

/** A new process does not know when the tenant was last asked. It does not ask if a budget was counted within this time. Milliseconds. */
const RESTART_PAUSE_MS = 2 * 60_000

/** Oldest reply of the tenant that limits a user who sends no messages. Milliseconds. */
const MAX_GRANT_AGE_MS = 60 * 60_000

/** The longest that a refusal waits for the tenant, in milliseconds. */
const MAX_ASK_MS = 5_000

export abstract class BudgetDirectory extends MeteredDirectory {
  protected readonly budget: UserBudget
  #asking: Promise<void> | null = null
  /** The tenant was asked, and has not answered yet or could not. */
  #isUnanswered = false
  /** When the tenant was asked last, apart from reports. Milliseconds since 1970. */
  #askedAt = 0
  #pauseMs = ASK_PAUSE_MS

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    const { sql } = ctx.storage
    this.budget = new UserBudget({ sql, now: Date.now, listRunning: () => this.listRunningSessions() })
  }

  /** The keys of the listed sessions in which a turn runs. */
  protected abstract listRunningSessions(): string[]

  /** The user's sessions and stored bytes; null: unknown. */
  protected abstract countHeld(): Omit<HeldCounts, "concurrent_turns">

  async leaseTurn(session: string, isAgent: boolean): Promise<Result<SessionLease | null>> {
    const leased = this.#leaseTurn(session, isAgent)
    if (leased.ok) this.#pauseMs = ASK_PAUSE_MS
    // Nobody is refused because of a budget that has been raised meanwhile.
    if (leased.ok || !(await this.#asksBeforeRefusal(leased.fault))) return leased
    const again = this.#leaseTurn(session, isAgent)
    // Otherwise clients that keep retrying would all reach the tenant's object.
    if (!again.ok) this.#pauseMs = Math.min(this.#pauseMs * (2 + Math.random() / 2), MAX_ASK_PAUSE_MS)
    return again
  }

  /** Asks the tenant, unless that was done a short time ago. Returns whether it did. */
  async #asksBeforeRefusal(fault: Fault): Promise<boolean> {
    const isUsedUp = fault.reason === "budget_exhausted" && fault.resets !== null
    // Administrators see at once what has used up a budget. The reply to a report has the current budgets.
    const isReport = (isUsedUp || this.#mayAskAgain()) && this.readUnsent(null).length > 0
    if (!isReport && !this.#mayAskAgain()) return false
    if (isReport) this.#askedAt = Date.now()
    await waitAtMost(isReport ? this.flushUsageSafely() : this.#askTenant(), MAX_ASK_MS)
    return true
  }

  #mayAskAgain(): boolean {
    const meters = this.budget.readAccount()?.meters ?? []
    const countedAt = Math.max(0, ...meters.map(({ at }) => at))
    return this.#mayAsk() && (this.#askedAt > 0 || Math.abs(Date.now() - countedAt) >= RESTART_PAUSE_MS)
  }

  #leaseTurn(session: string, isAgent: boolean): Result<SessionLease | null> {
    const leased = hasSchema(this.ctx.storage.sql) ? this.budget.leaseTurn(session, isAgent) : succeed(null)
    if (!leased.ok || leased.value !== null) return leased
    const mayAsk = this.#mayAsk()
    // The tenant has said that no budget concerns the user.
    if (!mayAsk && !this.#isUnanswered) return leased
    // The session learned of budgets before this object did. No turn waits for the tenant.
    if (mayAsk) this.ctx.waitUntil(this.#askTenant())
    return succeed({ meters: [], turns: 1, until: Date.now() + SESSION_LEASE_MS })
  }

  async readBudgets(): Promise<BudgetView[]> {
    if (!hasSchema(this.ctx.storage.sql)) return []
    const account = this.budget.readAccount()
    // A user whose directory has never been asked for a turn since budgets were set.
    if (account === null && this.#mayAsk()) await this.#askTenant()
    const held = { ...this.countHeld(), concurrent_turns: this.budget.countRunning() }
    return listBudgetViews(this.budget.readAccount(), held, Date.now())
  }

  async learnBudgets(): Promise<void> {
    if (!hasSchema(this.ctx.storage.sql) || !this.#mayAsk()) return
    const account = this.budget.readAccount()
    const countedAt = account === null ? 0 : Math.max(this.#askedAt, ...account.meters.map(({ at }) => at))
    if (Math.abs(Date.now() - countedAt) >= MAX_GRANT_AGE_MS) await this.#askTenant()
  }

  async refreshBudget(): Promise<void> {
    if (!hasSchema(this.ctx.storage.sql)) return
    // A request that is under way may have been answered before the change.
    await this.#asking
    this.#pauseMs = ASK_PAUSE_MS
    await this.#askTenant()
  }

  protected override countUsage(entries: readonly UsageEntry[]): void {
    this.budget.count(sumSpending(entries))
  }

  protected override addUsage(report: UsageReport, isLast?: boolean): void {
    try {
      super.addUsage(report, isLast)
    } catch (error) {
      // The transaction was rolled back.
      this.budget.forget()
      throw error
    }
  }

  protected override needsRenewal(): boolean {
    return this.budget.needsRenewal()
  }

  protected override onBatchSent(grant: TenantGrant | null, batch: BatchId): void {
    this.applyGrant(grant, batch)
  }

  /**
   * Applies a reply of the tenant. `included`: the newest batch that it is known to include. If it includes a later batch, that batch is
   * counted twice until the next reply.
   */
  protected applyGrant(grant: TenantGrant | null, included = this.getAcknowledgedBatch()): void {
    this.#isUnanswered = false
    // Without budgets, nothing is stored for them.
    if (grant === null && !hasSchema(this.ctx.storage.sql)) return
    this.migrate()
    if (grant === null) return this.budget.removeAccount()
    const month = toMonth(grant.at)
    const own = this.readUsage(`${month}-01`, `${month}-31`)
    const unsent = this.readUnsent({ included }).filter(({ day }) => day.startsWith(month))
    this.budget.applyGrant(grant, sumPeriods(own, grant.at), sumPeriods(unsent, grant.at))
  }

  #mayAsk(): boolean {
    return Math.abs(Date.now() - this.#askedAt) >= this.#pauseMs
  }

  /** Asks the tenant for the user's current budgets. Concurrent calls share one request. Never rejects. */
  #askTenant(): Promise<void> {
    this.#asking ??= this.#fetchGrant().finally(() => {
      this.#asking = null
    })
    return this.#asking
  }

  async #fetchGrant(): Promise<void> {
    this.#askedAt = Date.now()
    this.#isUnanswered = true
    const [tenant = "", user = ""] = (this.ctx.id.name ?? "").split(":", 2)
    // The tenant may add a batch after its reply, and acknowledge it before the reply arrives.
    const included = this.getAcknowledgedBatch()
    try {
      this.applyGrant(await tenantStub(this.env, tenant).getBudgetGrant(user), included)
    } catch (error) {
      log("budget_unknown", { error: describeError(error) })
    }
  }
}

/** Sums entries of one month: the usage in the day, and in the month, of an instant. */
function sumPeriods(entries: readonly UsageEntry[], at: number): PeriodSpending {
  const today = toDay(at)
  return { day: sumSpending(entries.filter(({ day }) => day === today)), month: sumSpending(entries) }
}
