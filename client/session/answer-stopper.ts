/**
 * answer-stopper.ts: stops the running answer, or one that is about to begin.
 *
 * The stop button applies to the answer on screen. A second press right after the first, or a press right after an
 * answer has ended, must not stop the next answer. Source: SPEC SO11, PG18.
 */

import type { Outbox } from "../net/outbox.ts"
import type { Commands } from "./commands.ts"
import type { ActiveTurn, TranscriptStore } from "./transcript-store.ts"

export interface AnswerStopperDeps {
  readonly store: TranscriptStore
  readonly outbox: Outbox
  readonly commands: Commands
  now(): number
  isLive(): boolean
}

/**
 * A stop within this time after another stop or after the end of an answer, in milliseconds, is taken to be meant for
 * the previous answer.
 */
const STOP_COOLDOWN_MS = 600

export class AnswerStopper {
  readonly #deps: AnswerStopperDeps
  /** When an answer was last stopped or last ended. */
  #stoppedAt = Number.NEGATIVE_INFINITY
  #activeTurn: ActiveTurn | null = null
  /** The exchange whose answer is stopped as soon as it begins. */
  #exchangeToStop: string | null = null

  constructor(deps: AnswerStopperDeps) {
    this.#deps = deps
    deps.store.activeTurn.subscribe((turn) => this.#handleTurnChange(turn))
  }

  /** Stops the answer. Returns false if there is no answer that the user could mean. */
  stopAnswer(): boolean {
    const { store, outbox, now, isLive } = this.#deps
    const stopTime = now()
    if (stopTime - this.#stoppedAt < STOP_COOLDOWN_MS) return false
    const activeTurn = store.activeTurn.peek()
    if (activeTurn === null) this.#exchangeToStop = isLive() ? (outbox.findNewestPending() ?? null) : null
    else this.#cancelTurn(activeTurn)
    if (activeTurn === null && this.#exchangeToStop === null) return false
    this.#stoppedAt = stopTime
    return true
  }

  /** Called when the user sends another message. From then on, a stop is meant for the answer to that message. */
  endCooldown(): void {
    this.#stoppedAt = Number.NEGATIVE_INFINITY
  }

  #handleTurnChange(turn: ActiveTurn | null): void {
    // A page of history that was read before the answer began removes the answer for a moment, or shows it as queued.
    // In these cases, the answer has not ended.
    const status = this.#deps.store.get(this.#activeTurn?.id ?? "")?.status
    if (status !== undefined && status !== "queued") this.#stoppedAt = this.#deps.now()
    this.#activeTurn = turn
    // Commands that were refused because of the previous answer may succeed now.
    this.#deps.commands.clearRefusals()
    if (turn === null || turn.exchangeId !== this.#exchangeToStop) return
    this.#cancelTurn(turn)
    this.#exchangeToStop = null
  }

  #cancelTurn(turn: ActiveTurn): void {
    this.#deps.commands.sendCommand(turn.id, { type: "cancel", exchange_id: turn.exchangeId })
  }
}
