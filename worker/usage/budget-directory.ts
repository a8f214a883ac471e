/**
 * budget-directory.ts: the calls of a user's directory object about budgets.
 */

import { type Fault, type Result, succeed } from "../../shared/fault.ts"
import { sumSpending } from "../../shared/usage/budget-meter.ts"
import { toDay, toMonth } from "../../shared/usage/period.ts"
import type { UsageReport } from "../../shared/usage/usage-report.ts"
import type { UsageEntry } from "../../shared/usage/usage-totals.ts"
import {
  isUsedUpByAll,
  type PeriodSpending,
  SESSION_LEASE_MS,
  type SessionLease,
  type TenantGrant,
} from "../../shared/usage/user-account.ts"
import { type BudgetView, type HeldCounts, listBudgetViews } from "../../shared/usage/budget-view.ts"
import type { Env } from "../env.ts"
import { FreshCache } from "../platform/fresh-cache.ts"
import { describeError, log } from "../platform/log.ts"
import { hasSchema } from "../platform/migrate.ts"
import { tenantStub } from "../platform/rpc/object-stubs.ts"
import { waitAtMost } from "../platform/timeout.ts"
import type { BatchId } from "./directory-usage.ts"
import { MeteredDirectory } from "./metered-directory.ts"
import { UserBudget } from "./user-budget.ts"

/**
 * Between two reports the tenant is asked at most once in this time: before a refusal, or if no budget is known. It doubles
 * with each refusal that follows, up to the maximum. Milliseconds.
 */
const ASK_PAUSE_MS = 5_000
const MAX_ASK_PAUSE_MS = 5 * 60_000

/** A new process does not know when it asked. It does not ask if a budget was counted so recently. Milliseconds. */
const RESTART_PAUSE_MS = 2 * 60_000

/**
 * With every eighth conversation the limits of a user who sends no messages are asked for, if the last answer or turn is so
 * long ago. Milliseconds.
 */
const LEARN_SESSIONS = 8
const MAX_GRANT_AGE_MS = 60 * 60_000

/** How long the directories of an isolate rely on one answer that says that a tenant's budget is used up, in milliseconds. */
const SHARED_ANSWER_MS = 60_000
const MAX_SHARED_ANSWERS = 1_000

/** By tenant: its newest answer to any directory of this isolate. */
const tenantAnswers = new FreshCache<TenantGrant>(SHARED_ANSWER_MS, MAX_SHARED_ANSWERS)

/** The longest that a refusal waits for the tenant, in milliseconds. */
const MAX_ASK_MS = 5_000

export abstract class BudgetDirectory extends MeteredDirectory {
  protected readonly budget: UserBudget
  #asking: Promise<void> | null = null
  readonly #tenant: string
  /** The tenant was asked, and has not answered yet or could not. */
  #isUnanswered = false
  /** When the tenant was asked last, apart from reports. Milliseconds since 1970. */
  #askedAt = 0
  #pauseMs = ASK_PAUSE_MS

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    const { sql } = ctx.storage
    // The object's name is `tenant:user`.
    ;[this.#tenant = ""] = (ctx.id.name ?? "").split(":", 1)
    this.budget = new UserBudget({ sql, now: Date.now, listRunning: () => this.listRunningSessions() })
  }

  /** The keys of the listed sessions in which a turn runs. */
  protected abstract listRunningSessions(): string[]

  /** What the user has; null: unknown. */
  protected abstract countHeld(): Omit<HeldCounts, "concurrent_turns">

  async leaseTurn(session: string, isAgent: boolean): Promise<Result<SessionLease | null>> {
    const leased = this.#leaseTurn(session, isAgent)
    if (leased.ok) this.#pauseMs = ASK_PAUSE_MS
    // Nobody is refused for a budget that has been raised meanwhile.
    if (leased.ok || !(await this.#asksBeforeRefusal(leased.fault))) return leased
    const again = this.#leaseTurn(session, isAgent)
    // Otherwise clients that try again and again would all ask the tenant's object.
    if (!again.ok) this.#pauseMs = Math.min(this.#pauseMs * (2 + Math.random() / 2), MAX_ASK_PAUSE_MS)
    return again
  }

  /** Asks the tenant, unless that was done a short time ago. Returns whether it did. */
  async #asksBeforeRefusal(fault: Fault): Promise<boolean> {
    // Otherwise all users of the tenant would ask its object as soon as its budget is used up.
    if (this.#isKnownUsedUp(fault)) return false
    const isUsedUp = fault.reason === "budget_exhausted" && fault.resets !== null
    // Administrators see at once what has used up a budget. The answer to a report says what counts now.
    const isReport = (isUsedUp || this.#mayAskAgain()) && this.readUnsent(null).length > 0
    if (!isReport && !this.#mayAskAgain()) return false
    if (isReport) this.#askedAt = Date.now()
    await waitAtMost(isReport ? this.flushUsageSafely() : this.#askTenant(), MAX_ASK_MS)
    return true
  }

  /** Whether the tenant has just told this isolate that it is its own budget that is used up. */
  #isKnownUsedUp(fault: Fault): boolean {
    const now = Date.now()
    const answer = tenantAnswers.get(this.#tenant, now)
    if (answer === undefined || fault.reason !== "budget_exhausted" || fault.scope !== "tenant") return false
    return isUsedUpByAll(answer, fault.budget, now)
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
    // The session has heard of budgets before this object has. No turn waits for the tenant.
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
    if (account !== null && (this.countHeld().sessions ?? 0) % LEARN_SESSIONS !== 0) return
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
   * Takes an answer of the tenant. `included`: the newest batch that it is known to include. If it includes a later one, that
   * is counted twice until the next answer.
   */
  protected applyGrant(grant: TenantGrant | null, included = this.getAcknowledgedBatch()): void {
    this.#isUnanswered = false
    this.#shareAnswer(grant)
    // Without budgets, nothing is stored for them.
    if (grant === null && !hasSchema(this.ctx.storage.sql)) return
    this.migrate()
    if (grant === null) return this.budget.removeAccount()
    const month = toMonth(grant.at)
    const own = this.readUsage(`${month}-01`, `${month}-31`)
    const unsent = this.readUnsent({ included }).filter(({ day }) => day.startsWith(month))
    this.budget.applyGrant(grant, sumPeriods(own, grant.at), sumPeriods(unsent, grant.at))
  }

  #shareAnswer(grant: TenantGrant | null): void {
    const now = Date.now()
    const known = tenantAnswers.get(this.#tenant, now)
    // Answers can overtake each other.
    if (grant !== null && grant.at >= (known?.at ?? 0)) tenantAnswers.set(this.#tenant, grant, now)
  }

  #mayAsk(): boolean {
    return Math.abs(Date.now() - this.#askedAt) >= this.#pauseMs
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
    this.#isUnanswered = true
    const [, user = ""] = (this.ctx.id.name ?? "").split(":", 2)
    // The tenant may add a batch after it has answered, and acknowledge it before the answer arrives.
    const included = this.getAcknowledgedBatch()
    try {
      this.applyGrant(await tenantStub(this.env, this.#tenant).getBudgetGrant(user), included)
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
