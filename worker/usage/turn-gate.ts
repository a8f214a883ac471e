/**
 * turn-gate.ts: decides in a session whether a turn may begin: with the lease that the session has, or else by asking the
 * user's directory.
 *
 * In a tenant without budgets it asks nobody. The lease is only in memory: after a restart, the next turn asks.
 */

import { fail, type Fault, type Result, succeed } from "../../shared/fault.ts"
import type { Spending } from "../../shared/usage/budget-meter.ts"
import { beginWithLease, canBegin, countInLease } from "../../shared/usage/session-budget.ts"
import type { SessionLease } from "../../shared/usage/user-account.ts"
import type { Env } from "../env.ts"
import { describeError, log } from "../platform/log.ts"
import { directoryStub } from "../platform/rpc/object-stubs.ts"

/** The gate of a session. `hasBudgets`: whether the tenant had some when the session last got its configuration. */
export function createTurnGate(
  env: Env,
  row: { readonly tenant: string; readonly user: string; readonly id: string },
  hasBudgets: () => boolean,
): TurnGate {
  const askDirectory = async (isAgent: boolean) => await directoryStub(env, row).leaseTurn(row.id, isAgent)
  return new TurnGate({ now: Date.now, hasBudgets, askDirectory })
}

export interface TurnGateHost {
  readonly now: () => number
  /** Whether the tenant had budgets when the session last got its configuration. */
  readonly hasBudgets: () => boolean
  /** Asks the directory. Null: no budget concerns the user. */
  readonly askDirectory: (isAgent: boolean) => Promise<Result<SessionLease | null>>
}

export class TurnGate {
  readonly #host: TurnGateHost
  #lease: SessionLease | null = null
  /** What the directory has said about budgets since this process began; null: nothing. */
  #isLimited: boolean | null = null
  #asking: Promise<Result<null>> | null = null

  constructor(host: TurnGateHost) {
    this.#host = host
  }

  /**
   * Whether a turn may begin now. A promise only if the directory has to be asked. Errors: `budget_exhausted`,
   * `budget_unchecked`. Never rejects.
   */
  check(isAgent = false): Result<null> | Promise<Result<null>> {
    if (!(this.#isLimited ?? this.#host.hasBudgets())) return succeed(null)
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

  /** Counts what the session has used, until the directory has counted it. */
  count(use: Spending): void {
    if (this.#lease !== null) this.#lease = countInLease(this.#lease, use, this.#host.now())
  }

  /** The directory's answer to a report. Undefined: it has not said anything about budgets. */
  renew(lease: SessionLease | null | undefined): void {
    if (lease === undefined) return
    this.#lease = lease
    this.#isLimited = lease !== null
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
