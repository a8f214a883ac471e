/** backoff.ts: the delay before a retry. */

export interface Backoff {
  /** Delay before the first retry, in milliseconds. It doubles with each further retry. */
  readonly firstMs: number
  /** Upper bound of the delay, in milliseconds. */
  readonly maxMs: number
}

/**
 * Returns the delay before retry number `failures` (counted from 1), in milliseconds.
 *
 * `random`, in [0, 1), picks a delay from the upper half of the range, so that clients that failed together do not
 * retry together. If `random` is omitted, the full delay is returned.
 */
export function backoffDelayMs(failures: number, { firstMs, maxMs }: Backoff, random = 1): number {
  const fullMs = Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 30))
  return Math.round(fullMs * (0.5 + random / 2))
}
