/** timeout.ts: bounds how long work takes, or how long a caller waits for work that may never settle. */

export interface Timeout {
  /** Aborted with the caller's signal, or when the time is up. */
  readonly signal: AbortSignal
  readonly hasExpired: () => boolean
  /** Must be called when the work has ended. The signal is not aborted after that. */
  readonly clear: () => void
}

/** Not AbortSignal.timeout: it can't be cleared, and would keep an object awake long after the work has ended. */
export function startTimeout(signal: AbortSignal, ms: number): Timeout {
  const timeout = new AbortController()
  const timer = setTimeout(() => timeout.abort(), ms)
  return {
    signal: AbortSignal.any([signal, timeout.signal]),
    hasExpired: () => timeout.signal.aborted,
    clear: () => clearTimeout(timer),
  }
}

/**
 * Settles like `work`, or rejects with `createError()` after `ms`. A later result is dropped. The work is not stopped.
 */
export async function withTimeout<T>(work: Promise<T>, ms: number, createError: () => Error): Promise<T> {
  const { promise: expired, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(createError()), ms)
  return await Promise.race([work, expired]).finally(() => clearTimeout(timer))
}

/**
 * Resolves when `work` resolves or after `ms`, whichever comes first. Rejects only if `work` rejects before that. The
 * work is not stopped.
 */
export async function waitAtMost(work: Promise<void>, ms: number): Promise<void> {
  const { promise: expired, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await Promise.race([work, expired]).finally(() => clearTimeout(timer))
}
