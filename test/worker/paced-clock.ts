/**
 * paced-clock.ts: a clock that stands still while a turn works and moves on to the next timer when it waits, so that the
 * number of windows in which an answer is written does not depend on how busy the machine is.
 *
 * The timers run in the objects that set them: an object can't be called from outside. So each one waits in its object, with
 * short real timers, until it is the next one.
 */

/** Longer timers guard against something that does not happen here. They stay real. Milliseconds. */
const MAX_PACED_MS = 1_000
/** Until a timer that is not the next one looks again, in milliseconds. */
const LOOK_MS = 5

interface PacedTimer {
  readonly dueMs: number
  readonly run: () => void
  real: ReturnType<typeof setTimeout> | null
}

type StartTimer = (run: () => void, ms?: number) => unknown

export class PacedClock {
  readonly #real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout, now: Date.now }
  /** In the order in which they were set. */
  readonly #timers = new Set<PacedTimer>()
  #nowMs = 0
  #isPaced = false
  /** How far this clock is ahead of the real one. */
  #aheadMs = 0

  /** Replaces the clock of the test and of all objects in its isolate. Call this before they are created: they keep `Date.now`. */
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

  /** From now on time passes only when everything waits. Outside, the clock is the real one. */
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
    if (!isNext) return this.#lookIn(LOOK_MS, timer)
    this.#timers.delete(timer)
    this.#nowMs = Math.max(this.#nowMs, timer.dueMs)
    timer.run()
  }
}
