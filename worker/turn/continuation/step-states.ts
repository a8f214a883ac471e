/**
 * step-states.ts: the provider's states of a turn's steps. Each is stored with its step, sent back with later steps,
 * and removed when the turn ends.
 *
 * A state is written in the transaction that stores the calls of its step, so a restart between the calls and their
 * results loses neither the calls nor the state. Source: SPEC MO16.
 */

import type { StepState } from "../../store/model/provider-state-rows.ts"
import type { SessionStore } from "../../store/session-store.ts"

/** Maximum size of a step's state, in UTF-16 code units. A larger state is dropped. */
export const MAX_STATE_CHARS = 64 * 1024

export class StepStates {
  readonly #store: SessionStore
  readonly #pos: number
  #pending: StepState | null = null
  #hasRows = false

  constructor(store: SessionStore, pos: number) {
    this.#store = store
    this.#pos = pos
  }

  /** Stores a state with the next write of the answer. Returns false if it is too large. */
  add(state: StepState): boolean {
    if (state.data.length > MAX_STATE_CHARS) return false
    this.#pending = state
    return true
  }

  isPending(): boolean {
    return this.#pending !== null
  }

  write(): void {
    if (this.#pending === null) return
    this.#store.providerStates.put(this.#pos, this.#pending)
    this.#pending = null
    this.#hasRows = true
  }

  /** Returns the states of earlier steps. `step`: the number of finished steps. If it is 0, nothing is read. */
  list(step: number): readonly StepState[] {
    const states = step === 0 ? [] : this.#store.providerStates.list(this.#pos)
    this.#hasRows ||= states.length > 0
    return states
  }

  /** Deletes all states. Called when the turn has ended. */
  clear(): void {
    this.#pending = null
    if (this.#hasRows) this.#store.providerStates.remove(this.#pos)
    this.#hasRows = false
  }
}
