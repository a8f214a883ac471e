/**
 * paced-clock.ts: a clock that stops while a turn works, and jumps to the next timer when the turn waits. The number of
 * windows in which an answer is written then does not depend on how busy the machine is.
 *
 * An object can't be called from outside, so each timer runs in the object that set it. The timer waits there, with short
 * real timers, until it is the next one.
 */

/** Timers longer than this, in milliseconds, stay real: they are time limits that no test reaches. */
const MAX_PACED_MS = 1_000
/** Interval at which a timer checks whether it is the next one, in milliseconds. */
const POLL_MS = 5

interface PacedTimer {
  readonly dueMs: number
  readonly run: () => void
  real: ReturnType<typeof setTimeout> | null
}

type StartTimer = (run: () => void, ms?: number) => unknown

export class PacedClock {
  readonly #real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout, now: Date.now }
  /** The timers, in the order in which they were set. */
  readonly #timers = new Set<PacedTimer>()
  #nowMs = 0
  #isPaced = false
  /** How far this clock is ahead of the real one. */
  #aheadMs = 0

  /** Replaces the clock of the test and its isolate's objects. Call it before they exist, because they keep `Date.now`. */
  install(): void {
    Date.now = () => (this.#isPaced ? this.#nowMs : this.#real.now() + this.#aheadMs)
    globalThis.setTimeout = ((run: () => void, ms = 0) => this.#start(run, ms)) satisfies StartTimer as never
    globalThis.clearTimeout = ((timer: unknown) => this.#stop(timer)) as typeof clearTimeout
  }

  uninstall(): void {
    Date.now = this.#real.now
    globalThis.setTimeout = this.#real.setTimeout
    globalThis.clearTimeout = this.#real.clearTimeout
  }

  /** While `work` runs, time passes only when everything waits. Otherwise, the clock is real. */
  async pace(work: () => Promise<void>): Promise<void> {
    this.#nowMs = Date.now()
    this.#isPaced = true
    try {
      await work()
    } finally {
      this.#isPaced = false
      this.#aheadMs = Math.max(this.#nowMs - this.#real.now(), 0)
    }
  }

  #start(run: () => void, ms: number): unknown {
    if (!this.#isPaced || ms > MAX_PACED_MS) return this.#real.setTimeout(run, ms)
    const timer: PacedTimer = { dueMs: this.#nowMs + ms, run, real: null }
    this.#timers.add(timer)
    this.#lookIn(0, timer)
    return timer
  }

  #stop(timer: unknown): void {
    const paced = timer as PacedTimer
    if (!this.#timers.delete(paced)) return this.#real.clearTimeout(timer as never)
    if (paced.real !== null) this.#real.clearTimeout(paced.real)
  }

  #lookIn(ms: number, timer: PacedTimer): void {
    timer.real = this.#real.setTimeout(() => this.#look(timer), ms)
  }

  #look(timer: PacedTimer): void {
    if (!this.#timers.has(timer)) return
    const isNext = [...this.#timers].every((other) => timer.dueMs <= other.dueMs)
    if (!isNext) return this.#lookIn(POLL_MS, timer)
    this.#timers.delete(timer)
    this.#nowMs = Math.max(this.#nowMs, timer.dueMs)
    timer.run()
  }
}
