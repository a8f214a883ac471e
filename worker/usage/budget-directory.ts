/**
 * budget-directory.ts: the calls of a user's directory object about budgets.
 */

import { type Result, succeed } from "../../shared/fault.ts"
import { NO_SPENDING } from "../../shared/usage/budget-meter.ts"
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

/** While turns are refused, the tenant is asked at most once in this time whether they still have to be, in milliseconds. */
const REFUSED_RENEW_MS = 5_000

export abstract class BudgetDirectory extends MeteredDirectory {
  protected readonly budget: UserBudget
  /** The tenant has said that it has no budgets, when a session said otherwise. */
  #hasNone = false
  #asking: Promise<void> | null = null
  /** When the tenant was asked because a turn would be refused. Milliseconds since 1970. */
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
    if (leased.ok || Date.now() - this.#askedAt < REFUSED_RENEW_MS) return leased
    await this.#askTenant()
    return this.#leaseTurn(session, isAgent)
  }

  #leaseTurn(session: string, isAgent: boolean): Result<SessionLease | null> {
    const leased = hasSchema(this.ctx.storage.sql) ? this.budget.leaseTurn(session, isAgent) : succeed(null)
    if (!leased.ok || leased.value !== null || this.#hasNone) return leased
    // The session has heard of budgets before this object has. No turn waits for the tenant.
    this.ctx.waitUntil(this.#askTenant())
    return succeed({ meters: [], turns: 1, until: Date.now() + SESSION_LEASE_MS })
  }

  async readBudgets(): Promise<BudgetView[]> {
    if (!hasSchema(this.ctx.storage.sql)) return []
    const account = this.budget.readAccount()
    // A user whose directory has never been asked for a turn since budgets were set.
    if (account === null && !this.#hasNone) await this.#askTenant()
    const held = { ...this.countHeld(), concurrent_turns: this.budget.countRunning() }
    return listBudgetViews(this.budget.readAccount(), held, Date.now())
  }

  /** Takes the tenant's answer to a call that was made anyway. */
  protected applyGrant(grant: TenantGrant | null): void {
    // Without budgets, nothing is stored for them.
    if (grant === null && !hasSchema(this.ctx.storage.sql)) return
    this.migrate()
    const none: PeriodSpending = { day: NO_SPENDING, month: NO_SPENDING }
    this.budget.applyGrant(grant, none, none)
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
      this.#hasNone = grant === null
      this.applyGrant(grant)
    } catch (error) {
      log("budget_unknown", { error: describeError(error) })
    }
  }
}
