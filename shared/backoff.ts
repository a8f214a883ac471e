/** backoff.ts: the delay before a retry. */

export interface Backoff {
  /** Delay before the first retry, in milliseconds. It doubles with each further retry. */
  readonly firstMs: number
  /** Upper bound of the delay, in milliseconds. */
  readonly maxMs: number
}

/**
 * Delay before retry number `failures` (from 1), in milliseconds.
 *
 * `random` in [0, 1) spreads the delay over its upper half, so that clients that failed together do not retry together.
 * Without it, the full delay is returned.
 */
export function backoffDelayMs(failures: number, { firstMs, maxMs }: Backoff, random = 1): number {
  const fullMs = Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 30))
  return Math.round(fullMs * (0.5 + random / 2))
}
