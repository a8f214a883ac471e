/**
 * directory-budgets.ts: the budgets in a user's directory object. Leases turns, and reads the current budgets from the
 * tenant.
 */

import { type Fault, type Result, succeed } from "../../shared/fault.ts"
import { sumSpending } from "../../shared/usage/budget-meter.ts"
import { toDay, toMonth } from "../../shared/usage/period.ts"
import type { UsageEntry } from "../../shared/usage/usage-totals.ts"
import {
  isUsedUpByAll,
  type PeriodSpending,
  SESSION_LEASE_MS,
  type SessionLease,
  type TenantGrant,
} from "../../shared/usage/user-account.ts"
import { type BudgetView, type HeldCounts, listBudgetViews } from "../../shared/usage/budget-view.ts"
import { FreshCache } from "../platform/fresh-cache.ts"
import { describeError, log } from "../platform/log.ts"
import { tenantStub } from "../platform/rpc/object-stubs.ts"
import { waitAtMost } from "../platform/timeout.ts"
import type { DirectoryHost } from "./directory-host.ts"
import { DirectoryMetering } from "./directory-metering.ts"
import { UserBudget } from "./user-budget.ts"

/**
 * Minimum time between two calls to the tenant, not counting reports, in milliseconds. The tenant is called before a
 * refusal, and if no budget is known. The time doubles with each further refusal, up to the maximum.
 */
const ASK_PAUSE_MS = 5_000
const MAX_ASK_PAUSE_MS = 5 * 60_000

/**
 * A new process does not know when the tenant was last called. It makes no call if usage was counted against a budget
 * within this time, in milliseconds.
 */
const RESTART_PAUSE_MS = 2 * 60_000

/**
 * When a user creates a conversation, the limits are fetched if the last reply or turn is older than MAX_GRANT_AGE_MS.
 * Without this, the limits would never reach a user who sends no messages. If limits are already known, only every
 * eighth conversation (LEARN_SESSIONS) fetches them.
 */
const LEARN_SESSIONS = 8
const MAX_GRANT_AGE_MS = 60 * 60_000

/**
 * How long all directories of an isolate rely on a reply which says that a tenant's budget is used up, in milliseconds.
 */
const SHARED_ANSWER_MS = 60_000
const MAX_SHARED_ANSWERS = 1_000

/** For each tenant, its newest reply to any directory of this isolate. */
const tenantAnswers = new FreshCache<TenantGrant>(SHARED_ANSWER_MS, MAX_SHARED_ANSWERS)

/** Maximum time that a refusal waits for the tenant, in milliseconds. */
const MAX_ASK_MS = 5_000

export class DirectoryBudgets {
  readonly #host: DirectoryHost
  /** The stored account, and the leases of the sessions. */
  readonly account: UserBudget
  /** The usage that budgets count. */
  readonly metering: DirectoryMetering
  #asking: Promise<void> | null = null
  /** Whether the tenant was called, but has not replied yet or could not be reached. */
  #isUnanswered = false
  /** When the tenant was last called, not counting reports, in milliseconds since 1970. */
  #askedAt = 0
  #pauseMs = ASK_PAUSE_MS

  /** `listRunning`: the keys of the listed sessions in which a turn is running. */
  constructor(host: DirectoryHost, listRunning: () => readonly string[]) {
    this.#host = host
    this.account = new UserBudget({ sql: host.sql, now: Date.now, listRunning })
    this.metering = new DirectoryMetering(host, {
      onReport: (entries) => this.account.count(sumSpending(entries)),
      onRollback: () => this.account.forget(),
      onBatchSent: (grant, batch) => this.applyGrant(grant, batch),
      needsRenewal: () => this.account.needsRenewal(),
    })
  }

  /** Clears the state in memory. Call this when the user is being erased. */
  forget(): void {
    this.account.forget()
    this.metering.forget()
  }

  async leaseTurn(session: string, isAgent: boolean): Promise<Result<SessionLease | null>> {
    const leased = this.#leaseTurn(session, isAgent)
    if (leased.ok) this.#pauseMs = ASK_PAUSE_MS
    // Before a refusal, check whether the budget has been raised in the meantime.
    if (leased.ok || !(await this.#asksBeforeRefusal(leased.fault))) return leased
    const again = this.#leaseTurn(session, isAgent)
    // Otherwise, every retry of a client would reach the tenant's object.
    if (!again.ok) this.#pauseMs = Math.min(this.#pauseMs * (2 + Math.random() / 2), MAX_ASK_PAUSE_MS)
    return again
  }

  /** Calls the tenant, unless the tenant was called recently. Returns whether this call was made. */
  async #asksBeforeRefusal(fault: Fault): Promise<boolean> {
    // Otherwise, all users of the tenant would call its object as soon as its budget is used up.
    if (this.#isKnownUsedUp(fault)) return false
    const isUsedUp = fault.reason === "budget_exhausted" && fault.resets !== null
    // A report lets administrators see at once what has used up a budget, and its reply contains the current budgets.
    const isReport = (isUsedUp || this.#mayAskAgain()) && this.metering.readUnsent(null).length > 0
    if (!isReport && !this.#mayAskAgain()) return false
    if (isReport) this.#askedAt = Date.now()
    await waitAtMost(isReport ? this.metering.flushSafely() : this.#askTenant(), MAX_ASK_MS)
    return true
  }

  /**
   * Whether the tenant's reply to any directory of this isolate has recently said that all users together have used up
   * the budget.
   */
  #isKnownUsedUp(fault: Fault): boolean {
    const now = Date.now()
    const answer = tenantAnswers.get(this.#host.tenant, now)
    if (answer === undefined || fault.reason !== "budget_exhausted" || fault.scope !== "tenant") return false
    return isUsedUpByAll(answer, fault.budget, now)
  }

  #shareAnswer(grant: TenantGrant | null): void {
    const { tenant } = this.#host
    const now = Date.now()
    if (grant === null) tenantAnswers.delete(tenant)
    // Replies can arrive out of order.
    else if (grant.at >= (tenantAnswers.get(tenant, now)?.at ?? 0)) tenantAnswers.set(tenant, grant, now)
  }

  #mayAskAgain(): boolean {
    const meters = this.account.readAccount()?.meters ?? []
    const countedAt = Math.max(0, ...meters.map(({ at }) => at))
    return this.#mayAsk() && (this.#askedAt > 0 || Math.abs(Date.now() - countedAt) >= RESTART_PAUSE_MS)
  }

  #leaseTurn(session: string, isAgent: boolean): Result<SessionLease | null> {
    const leased = this.#host.tables.exist() ? this.account.leaseTurn(session, isAgent) : succeed(null)
    if (!leased.ok || leased.value !== null) return leased
    const mayAsk = this.#mayAsk()
    // The tenant has replied that no budget applies to the user.
    if (!mayAsk && !this.#isUnanswered) return leased
    // The session learned of budgets before this object did. No turn waits for the tenant.
    if (mayAsk) this.#host.ctx.waitUntil(this.#askTenant())
    return succeed({ meters: [], turns: 1, until: Date.now() + SESSION_LEASE_MS })
  }

  /**
   * Returns the user's budgets as clients receive them. `countHeld` counts the user's sessions and stored bytes; a null
   * count is unknown.
   */
  async readViews(countHeld: () => Omit<HeldCounts, "concurrent_turns">): Promise<BudgetView[]> {
    if (!this.#host.tables.exist()) return []
    const account = this.account.readAccount()
    // The directory may not have been called for a turn since budgets were set.
    if (account === null && this.#mayAsk()) await this.#askTenant()
    const held = { ...countHeld(), concurrent_turns: this.account.countRunning() }
    return listBudgetViews(this.account.readAccount(), held, Date.now())
  }

  /**
   * Fetches the user's budgets if the known ones are old. `countSessions` counts the user's sessions, and is called
   * only if the object has tables.
   */
  async learnLimits(countSessions: () => number): Promise<void> {
    if (!this.#host.tables.exist() || !this.#mayAsk()) return
    const account = this.account.readAccount()
    if (account !== null && countSessions() % LEARN_SESSIONS !== 0) return
    const countedAt = account === null ? 0 : Math.max(this.#askedAt, ...account.meters.map(({ at }) => at))
    if (Math.abs(Date.now() - countedAt) >= MAX_GRANT_AGE_MS) await this.#askTenant()
  }

  async refresh(): Promise<void> {
    if (!this.#host.tables.exist()) return
    // The reply to a request in progress may be older than the change.
    await this.#asking
    this.#pauseMs = ASK_PAUSE_MS
    await this.#askTenant()
  }

  /**
   * Applies a reply from the tenant. `included`: the newest batch that the reply is known to include. If the reply
   * includes a later batch, that batch is counted twice until the next reply.
   */
  applyGrant(grant: TenantGrant | null, included = this.metering.getAcknowledgedBatch()): void {
    this.#isUnanswered = false
    this.#shareAnswer(grant)
    // If there are no budgets, no tables are created for them.
    if (grant === null && !this.#host.tables.exist()) return
    this.#host.tables.create()
    if (grant === null) return this.account.removeAccount()
    const month = toMonth(grant.at)
    const own = this.metering.readTotals(`${month}-01`, `${month}-31`)
    const unsent = this.metering.readUnsent({ included }).filter(({ day }) => day.startsWith(month))
    this.account.applyGrant(grant, sumPeriods(own, grant.at), sumPeriods(unsent, grant.at))
  }

  #mayAsk(): boolean {
    return Math.abs(Date.now() - this.#askedAt) >= this.#pauseMs
  }

  /** Fetches the user's current budgets from the tenant. Concurrent calls share one request. Never rejects. */
  #askTenant(): Promise<void> {
    this.#asking ??= this.#fetchGrant().finally(() => {
      this.#asking = null
    })
    return this.#asking
  }

  async #fetchGrant(): Promise<void> {
    this.#askedAt = Date.now()
    this.#isUnanswered = true
    const { env, tenant, user } = this.#host
    // The tenant may add a batch after its reply, and acknowledge it before the reply arrives.
    const included = this.metering.getAcknowledgedBatch()
    try {
      this.applyGrant(await tenantStub(env, tenant).getBudgetGrant(user), included)
    } catch (error) {
      log("budget_unknown", { error: describeError(error) })
    }
  }
}

/** Sums the usage on the day of `at` and in its month. `entries` are those of that month. */
function sumPeriods(entries: readonly UsageEntry[], at: number): PeriodSpending {
  const today = toDay(at)
  return { day: sumSpending(entries.filter(({ day }) => day === today)), month: sumSpending(entries) }
}
