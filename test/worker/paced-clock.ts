/**
 * paced-clock.ts: a clock that stops while a turn is working, and jumps to the next timer when the turn is waiting.
 * With this clock, the number of writes of an answer does not depend on how busy the machine is.
 *
 * Code can't run in an object from outside, so each timer's callback runs in the object that set the timer. There, the
 * timer waits with short real timers until it is the next one.
 */

/**
 * Maximum length of the timers that this clock controls, in milliseconds. Longer ones stay real, because they are time
 * limits that no test reaches.
 */
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
  /** How far this clock is ahead of the real one, in milliseconds. */
  #aheadMs = 0

  /**
   * Replaces the clock of the test and of the objects in its isolate. Call this before the objects exist, because they
   * keep `Date.now`.
   */
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

  /** Runs `work`. Meanwhile, time passes only when everything is waiting. Before and after that, the clock is real. */
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
