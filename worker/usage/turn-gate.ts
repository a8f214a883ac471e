/**
 * turn-gate.ts: decides in a session whether a turn may begin. It uses the session's lease or, without one, calls the
 * user's directory.
 *
 * In a tenant without budgets, the gate makes no request. The lease is only in memory, so after a restart the next turn
 * calls the directory. The session's stored configuration says whether there are budgets. The configuration is read
 * again from time to time, because the session may be older than the first budget.
 */

import { type Fault, fail, type Result, succeed } from "../../shared/fault.ts"
import { TOKEN_TRUST_MS } from "../../shared/limits.ts"
import { addCounts } from "../../shared/usage/budget-meter.ts"
import { countCall, type PricedCall } from "../../shared/usage/call-usage.ts"
import { beginWithLease, canBegin, countInLease } from "../../shared/usage/session-budget.ts"
import type { SessionLease } from "../../shared/usage/user-account.ts"
import { describeError, log } from "../platform/log.ts"
import { waitAtMost } from "../platform/timeout.ts"

/** Maximum time that a message sent over HTTP waits for the configuration, in milliseconds. */
const VIEW_WAIT_MS = 1_000

/** The part of a live session that its gate uses. */
export interface GatedSession {
  readonly row: { readonly tenant: string; readonly user: string; readonly id: string }
  readonly agentView: { readonly hasBudgets?: true }
  readonly directorySync: { syncRunningState(): Promise<void> }
  readonly turns: { isRunning(): boolean }
  refreshAgent(): Promise<boolean>
}

export interface TurnGateHost {
  readonly now: () => number
  /** Returns the session's newest configuration, which says whether its tenant had budgets. */
  readonly readView: () => GatedSession["agentView"]
  /** Calls the directory. Returns null if no budget applies to the user. */
  readonly askDirectory: (isAgent: boolean) => Promise<Result<SessionLease | null>>
  /** Reads the configuration again, and stores it. */
  readonly refreshView: () => Promise<unknown>
  /** Whether a turn is running, or a message is waiting for one. */
  readonly isRunning: () => boolean
  /** Notifies the directory that no turn is running. */
  readonly returnLease: () => Promise<unknown>
}

export class TurnGate {
  readonly #host: TurnGateHost
  #lease: SessionLease | null = null
  /** The configuration when the directory last reported that there are no budgets. A later configuration may differ. */
  #unlimitedView: GatedSession["agentView"] | null = null
  #asking: Promise<Result<null>> | null = null
  /**
   * Whether no turn has begun since the lease was requested. The directory already counts the requested turn as
   * running.
   */
  #isAsked = false
  #returning: Promise<void> = Promise.resolve()
  #refreshing: Promise<void> = Promise.resolve()
  #refreshedAt = -Infinity

  constructor(host: TurnGateHost) {
    this.#host = host
  }

  /** Whether a turn may begin without a call to the directory. Reads no row. */
  canBeginNow(): boolean {
    const view = this.#host.readView()
    if (this.#lease === null && (view.hasBudgets !== true || view === this.#unlimitedView)) return true
    return canBegin(this.#lease, this.#host.now())
  }

  /**
   * Checks whether a turn may begin now. Returns a promise only if the directory must be called. Errors:
   * `budget_exhausted`, `budget_unchecked`. Never rejects.
   */
  check(isAgent = false): Result<null> | Promise<Result<null>> {
    if (this.canBeginNow()) return succeed(null)
    if (isAgent) return this.#askDirectory(true)
    this.#asking ??= this.#askDirectory(false).finally(() => {
      this.#asking = null
    })
    return this.#asking
  }

  /**
   * Reads the configuration again if that was last done at least TOKEN_TRUST_MS ago. If the session doesn't know of any
   * budgets, waits up to VIEW_WAIT_MS for the result. Never rejects.
   */
  async refreshView(): Promise<void> {
    const { now, readView, refreshView } = this.#host
    if (Math.abs(now() - this.#refreshedAt) >= TOKEN_TRUST_MS) {
      this.#refreshedAt = now()
      const refreshing = refreshView().then(() => {})
      // If it fails, the turn continues with the session's stored configuration.
      this.#refreshing = waitAtMost(refreshing, VIEW_WAIT_MS).catch(() => {})
    }
    if (readView().hasBudgets !== true) await this.#refreshing
  }

  /** Returns a requested lease to the directory if no turn has begun or will begin with it. Never rejects. */
  giveBack(): Promise<void> {
    if (!this.#isAsked || this.#lease === null || this.#host.isRunning()) return this.#returning
    this.#lease = beginWithLease(this.#lease)
    this.#isAsked = false
    // If it fails, the lease expires.
    this.#returning = this.#host
      .returnLease()
      .then(() => {})
      .catch(() => {})
    return this.#returning
  }

  beginTurn(): void {
    this.#isAsked = false
    if (this.#lease !== null) this.#lease = beginWithLease(this.#lease)
  }

  /** Counts a model call of the session, until the directory has counted it. */
  readonly countCall = (call: PricedCall): void => {
    if (this.#lease === null) return
    const { input, output, cost } = countCall(call)
    this.#lease = countInLease(this.#lease, { tokens: addCounts(input, output), cost }, this.#host.now())
  }

  /** Applies the directory's reply to a report. `lease` is undefined if the reply contains nothing about budgets. */
  renew(lease: SessionLease | null | undefined): void {
    if (lease === undefined) return
    this.#lease = lease
    this.#isAsked = false
    if (lease === null) this.#unlimitedView = this.#host.readView()
  }

  async #askDirectory(isAgent: boolean): Promise<Result<null>> {
    try {
      await this.#returning
      const asked = await this.#host.askDirectory(isAgent)
      if (!asked.ok) return asked
      this.renew(asked.value)
      this.#isAsked = true
      return succeed(null)
    } catch (error) {
      log("budget_unchecked", { error: describeError(error) })
      return fail({ reason: "budget_unchecked" } satisfies Fault)
    }
  }
}
