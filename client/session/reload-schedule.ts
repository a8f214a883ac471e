/**
 * reload-schedule.ts: schedules reloads of the newest history after a failed load or a reset.
 *
 * A single reset causes an immediate reload. Reloads after repeated resets are delayed, because the server may keep
 * causing resets. Source: SPEC SO4, SO5.
 */

import { retryDelayMs } from "../net/retry-delay.ts"

export interface ReloadScheduleDeps {
  now(): number
  random(): number
  setTimer(ms: number, callback: () => void): () => void
}

/** Resets that are further apart than this, in milliseconds, are not treated as repeated. */
const RESET_WINDOW_MS = 20_000
/**
 * Number of consecutive epoch changes after which history is still reloaded without delay, because the user may switch
 * versions faster than history loads.
 */
const MAX_IMMEDIATE_EPOCHS = 3

export class ReloadSchedule {
  readonly #deps: ReloadScheduleDeps
  readonly #load: () => void
  #failures = 0
  #recentResets = 0
  #lastResetAt = Number.NEGATIVE_INFINITY
  #epochReloads = 0
  #cancelTimer: (() => void) | null = null

  constructor(deps: ReloadScheduleDeps, load: () => void) {
    this.#deps = deps
    this.#load = load
  }

  get isPending(): boolean {
    return this.#cancelTimer !== null
  }

  cancel(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = null
  }

  markLoaded(): void {
    this.#failures = 0
  }

  markLive(): void {
    this.#epochReloads = 0
  }

  handleFailure(): void {
    this.#failures++
    this.#schedule(this.#failures)
  }

  /** `epoch`: another version became active. `step`: the client's state didn't match the server's. */
  handleReset(reason: "epoch" | "step"): void {
    if (reason === "epoch") {
      this.#epochReloads++
      return this.#loadAfter(this.#epochReloads - MAX_IMMEDIATE_EPOCHS)
    }
    const now = this.#deps.now()
    this.#recentResets = now - this.#lastResetAt > RESET_WINDOW_MS ? 0 : this.#recentResets + 1
    this.#lastResetAt = now
    this.#loadAfter(this.#recentResets)
  }

  #loadAfter(failures: number): void {
    if (failures <= 0) this.#load()
    else this.#schedule(failures)
  }

  #schedule(failures: number): void {
    this.#cancelTimer = this.#deps.setTimer(retryDelayMs(failures, this.#deps.random()), this.#load)
  }
}
