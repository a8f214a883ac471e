/**
 * user-budget.ts: the budgets of one user, in the user's directory: the stored account, and the leases of the sessions.
 *
 * The stored account changes in the transaction that counts a report, so it always matches the ledger. The leases are
 * only in memory. After a restart, the running sessions are read from the list of sessions.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import { parseJson } from "../../shared/json.ts"
import { findStrictest, type HeldBudget } from "../../shared/usage/budget-limits.ts"
import type { Spending } from "../../shared/usage/budget-meter.ts"
import {
  applyGrant,
  countTurn,
  decideTurn,
  type GivenLease,
  leaseNextTurn,
  listOtherLeases,
  MAX_RUNNING_MS,
  needsRenewal,
  type PeriodSpending,
  type SessionLease,
  type TenantGrant,
  type UserAccount,
} from "../../shared/usage/user-account.ts"

export const BUDGET_ACCOUNT_TABLE = `
  CREATE TABLE budget_account (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    account TEXT NOT NULL)           -- JSON: UserAccount`

export interface UserBudgetHost {
  readonly sql: SqlStorage
  readonly now: () => number
  /** Returns the listed sessions in which a turn is running. */
  readonly listRunning: () => readonly string[]
}

export class UserBudget {
  readonly #host: UserBudgetHost
  /** Undefined until it has been read. */
  #account: UserAccount | null | undefined
  /** Null until the running sessions have been read. */
  #given: readonly GivenLease[] | null = null

  constructor(host: UserBudgetHost) {
    this.#host = host
  }

  /**
   * Returns the stored account; null if the directory doesn't know of any budgets in the tenant. Cost: one row read, on
   * the first call only.
   */
  readAccount(): UserAccount | null {
    if (this.#account === undefined) {
      const [row] = this.#host.sql.exec<{ account: string }>("SELECT account FROM budget_account").toArray()
      // `#writeAccount` wrote this JSON.
      this.#account = row === undefined ? null : (parseJson(row.account) as unknown as UserAccount)
    }
    return this.#account
  }

  /**
   * Decides whether a turn without a lease may begin. Returns null if no budget applies to the user. Errors:
   * `budget_exhausted`, `budget_unchecked`.
   */
  leaseTurn(session: string, isAgent: boolean): Result<SessionLease | null> {
    const account = this.readAccount()
    if (account === null) return succeed(null)
    const now = this.#host.now()
    const decision = decideTurn(account, this.#listOthers(session, now), now, isAgent)
    if ("lease" in decision) {
      // The session reports later that the turn has begun.
      this.#giveLease({ session, until: decision.lease.until, isRunning: true })
      return succeed(decision.lease)
    }
    const { refusal } = decision
    return fail(refusal === "unchecked" ? { reason: "budget_unchecked" } : { reason: "budget_exhausted", ...refusal })
  }

  /** Records that a turn has begun in a session, or that none is running there. */
  setRunning(session: string, isRunning: boolean): void {
    if (this.readAccount() === null) return
    if (isRunning) this.#giveLease({ session, until: this.#host.now() + MAX_RUNNING_MS, isRunning })
    else this.#takeBack(session)
  }

  /** Counts the usage of a report. Call this in the transaction that adds the report. Cost: one row written. */
  count(use: Spending): void {
    const account = this.readAccount()
    if (account !== null) this.#writeAccount(countTurn(account, use, this.#host.now()))
  }

  /**
   * Returns the lease for the next turn of a session whose report was counted; null if no budget applies to the user.
   */
  leaseNext(session: string): SessionLease | null {
    const account = this.readAccount()
    if (account === null) return null
    const now = this.#host.now()
    const lease = leaseNextTurn(account, this.#listOthers(session, now), now)
    if (lease.turns === 0) this.#takeBack(session)
    else this.#giveLease({ session, until: lease.until, isRunning: false })
    return lease
  }

  /**
   * Checks whether the budgets allow this many sessions, stored bytes or concurrent turns. Errors: `budget_exhausted`.
   */
  checkHeld(budget: HeldBudget, count: number): Result<null> {
    const limits = this.readAccount()?.limits
    const strictest = limits === undefined ? null : findStrictest(limits, budget)
    if (strictest === null || count <= strictest.limit) return succeed(null)
    return fail({ reason: "budget_exhausted", budget, scope: strictest.scope, resets: null })
  }

  countRunning(): number {
    return this.#listOthers("", this.#host.now()).filter(({ isRunning }) => isRunning).length
  }

  needsRenewal(): boolean {
    const account = this.readAccount()
    return account !== null && needsRenewal(account)
  }

  /**
   * Applies a reply from the tenant. For `own` and `unreported`, see the pure function `applyGrant`. Writes one row.
   */
  applyGrant(grant: TenantGrant, own: PeriodSpending, unreported: PeriodSpending): void {
    this.#writeAccount(applyGrant(this.readAccount(), grant, own, unreported))
  }

  /** Removes the account. Called when the tenant has no budgets. */
  removeAccount(): void {
    if (this.readAccount() !== null) this.#host.sql.exec("DELETE FROM budget_account")
    this.#account = null
  }

  /** Clears the state in memory. Call this after a write was rolled back, or when the user was erased. */
  forget(): void {
    this.#account = undefined
    this.#given = null
  }

  #listOthers(session: string, now: number): GivenLease[] {
    return listOtherLeases(this.#readGiven(), session, now)
  }

  #giveLease(lease: GivenLease): void {
    this.#given = [...this.#listOthers(lease.session, this.#host.now()), lease]
  }

  #takeBack(session: string): void {
    this.#given = this.#listOthers(session, this.#host.now())
  }

  #readGiven(): readonly GivenLease[] {
    const until = this.#host.now() + MAX_RUNNING_MS
    this.#given ??= this.#host.listRunning().map((session) => ({ session, until, isRunning: true }))
    return this.#given
  }

  #writeAccount(account: UserAccount): void {
    const put = "INSERT OR REPLACE INTO budget_account (one, account) VALUES (1, ?)"
    this.#host.sql.exec(put, JSON.stringify(account))
    this.#account = account
  }
}
