/**
 * turn-gate.ts: decides in a session whether a turn may begin: with the lease that the session has, or else by asking the
 * user's directory.
 *
 * In a tenant without budgets it asks nobody. The lease is only in memory: after a restart, the next turn asks.
 */

import { fail, type Fault, type Result, succeed } from "../../shared/fault.ts"
import { addCounts } from "../../shared/usage/budget-meter.ts"
import type { PricedCall } from "../../shared/usage/call-usage.ts"
import { beginWithLease, canBegin, countInLease } from "../../shared/usage/session-budget.ts"
import type { SessionLease } from "../../shared/usage/user-account.ts"
import { describeError, log } from "../platform/log.ts"

/** The part of a live session that its gate uses. */
export interface GatedSession {
  readonly row: { readonly tenant: string; readonly user: string; readonly id: string }
  readonly agentView: { readonly hasBudgets?: true }
  readonly directorySync: { syncRunningState(): Promise<void> }
}

export interface TurnGateHost {
  readonly now: () => number
  /** The newest configuration of the session, which says whether its tenant had budgets. */
  readonly readView: () => GatedSession["agentView"]
  /** Asks the directory. Null: no budget concerns the user. */
  readonly askDirectory: (isAgent: boolean) => Promise<Result<SessionLease | null>>
}

export class TurnGate {
  readonly #host: TurnGateHost
  #lease: SessionLease | null = null
  /** The configuration under which the directory last said that there are no budgets. A later one may say otherwise. */
  #unlimitedView: GatedSession["agentView"] | null = null
  #asking: Promise<Result<null>> | null = null

  constructor(host: TurnGateHost) {
    this.#host = host
  }

  /**
   * Whether a turn may begin now. A promise only if the directory has to be asked. Errors: `budget_exhausted`,
   * `budget_unchecked`. Never rejects.
   */
  check(isAgent = false): Result<null> | Promise<Result<null>> {
    const view = this.#host.readView()
    if (this.#lease === null && (view.hasBudgets !== true || view === this.#unlimitedView)) return succeed(null)
    if (canBegin(this.#lease, this.#host.now())) return succeed(null)
    if (isAgent) return this.#ask(true)
    this.#asking ??= this.#ask(false).finally(() => {
      this.#asking = null
    })
    return this.#asking
  }

  /** Called when a turn begins. */
  beginTurn(): void {
    if (this.#lease !== null) this.#lease = beginWithLease(this.#lease)
  }

  /** Counts a model call of the session, until the directory has counted it. */
  readonly countCall = ({ input, output, cost }: PricedCall): void => {
    if (this.#lease === null) return
    this.#lease = countInLease(this.#lease, { tokens: addCounts(input, output), cost: cost ?? 0 }, this.#host.now())
  }

  /** The directory's answer to a report. Undefined: it has not said anything about budgets. */
  renew(lease: SessionLease | null | undefined): void {
    if (lease === undefined) return
    this.#lease = lease
    if (lease === null) this.#unlimitedView = this.#host.readView()
  }

  async #ask(isAgent: boolean): Promise<Result<null>> {
    try {
      const asked = await this.#host.askDirectory(isAgent)
      if (!asked.ok) return asked
      this.renew(asked.value)
      return succeed(null)
    } catch (error) {
      log("budget_unchecked", { error: describeError(error) })
      return fail({ reason: "budget_unchecked" } satisfies Fault)
    }
  }
}
