/**
 * budget-directory.ts: the calls of a user's directory object about budgets.
 */

import { type Result, succeed } from "../../shared/fault.ts"
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
import { MeteredDirectory } from "./metered-directory.ts"
import { UserBudget } from "./user-budget.ts"

/** Between two reports the tenant is asked at most once in this time: before a refusal, or if no budget is known. Milliseconds. */
const ASK_PAUSE_MS = 5_000

export abstract class BudgetDirectory extends MeteredDirectory {
  protected readonly budget: UserBudget
  #asking: Promise<void> | null = null
  /** When the tenant was asked last, apart from reports. Milliseconds since 1970. */
  #askedAt = 0

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    const { sql } = ctx.storage
    this.budget = new UserBudget({ sql, now: Date.now, listRunning: () => this.listRunningSessions() })
  }

  /** The keys of the listed sessions in which a turn runs. */
  protected abstract listRunningSessions(): string[]

  /** What the user has; null: unknown. */
  protected abstract countHeld(): Omit<HeldCounts, "concurrent_turns">

  async leaseTurn(session: string, isAgent: boolean): Promise<Result<SessionLease | null>> {
    const leased = this.#leaseTurn(session, isAgent)
    // Nobody is refused for a budget that has been raised meanwhile.
    if (leased.ok || !this.#mayAsk()) return leased
    await this.#askTenant()
    return this.#leaseTurn(session, isAgent)
  }

  #leaseTurn(session: string, isAgent: boolean): Result<SessionLease | null> {
    const leased = hasSchema(this.ctx.storage.sql) ? this.budget.leaseTurn(session, isAgent) : succeed(null)
    if (!leased.ok || leased.value !== null || !this.#mayAsk()) return leased
    // The session has heard of budgets before this object has. No turn waits for the tenant.
    this.ctx.waitUntil(this.#askTenant())
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

  async refreshBudget(): Promise<void> {
    if (hasSchema(this.ctx.storage.sql)) await this.#askTenant()
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

  protected override onBatchSent(grant: TenantGrant | null): void {
    this.applyGrant(grant, false)
  }

  /**
   * Takes an answer of the tenant. `withBatch`: it may lack the batch that is under way. If it does not, that is counted twice
   * until the next answer.
   */
  protected applyGrant(grant: TenantGrant | null, withBatch = true): void {
    // Without budgets, nothing is stored for them.
    if (grant === null && !hasSchema(this.ctx.storage.sql)) return
    this.migrate()
    if (grant === null) return this.budget.removeAccount()
    const month = toMonth(grant.at)
    const own = this.readUsage(`${month}-01`, `${month}-31`)
    const unsent = this.readUnsent(withBatch).filter(({ day }) => day.startsWith(month))
    this.budget.applyGrant(grant, sumPeriods(own, grant.at), sumPeriods(unsent, grant.at))
  }

  #mayAsk(): boolean {
    return Math.abs(Date.now() - this.#askedAt) >= ASK_PAUSE_MS
  }

  /** Asks what counts for the user now. Concurrent calls share one request. Never rejects. */
  #askTenant(): Promise<void> {
    this.#asking ??= this.#fetchGrant().finally(() => {
      this.#asking = null
    })
    return this.#asking
  }

  async #fetchGrant(): Promise<void> {
    this.#askedAt = Date.now()
    const [tenant = "", user = ""] = (this.ctx.id.name ?? "").split(":", 2)
    try {
      const grant = await tenantStub(this.env, tenant).getBudgetGrant(user)
      this.applyGrant(grant)
    } catch (error) {
      log("budget_unknown", { error: describeError(error) })
    }
  }
}

/** What entries of one month have used in the day and the month of an instant. */
function sumPeriods(entries: readonly UsageEntry[], at: number): PeriodSpending {
  const today = toDay(at)
  return { day: sumSpending(entries.filter(({ day }) => day === today)), month: sumSpending(entries) }
}
