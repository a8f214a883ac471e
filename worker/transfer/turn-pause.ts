/** turn-pause.ts: keeps turns from starting while an import is in progress. */

import type { TurnScheduler } from "../turn/turn-scheduler.ts"

export class TurnPause {
  readonly #turns: Pick<TurnScheduler, "withTurnsPaused">
  readonly #resume: () => void
  #active: { readonly finished: Promise<void>; readonly finish: () => void } | null = null

  /** `resume` starts the turns of queued messages. */
  constructor(turns: Pick<TurnScheduler, "withTurnsPaused">, resume: () => void) {
    this.#turns = turns
    this.#resume = resume
  }

  isActive(): boolean {
    return this.#active !== null
  }

  /** Starts the pause. Has no effect during a pause. */
  begin(): void {
    if (this.#active !== null) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#active = { finished: this.#turns.withTurnsPaused(() => promise), finish: resolve }
  }

  async end(): Promise<void> {
    const ending = this.#active
    ending?.finish()
    await ending?.finished
    this.#active = null
    this.#resume()
  }
}
