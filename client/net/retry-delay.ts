/** retry-delay.ts: the delay before the page retries a request. Source: SPEC SO5. */

import { type Backoff, backoffDelayMs } from "../../shared/backoff.ts"

const RETRY_BACKOFF: Backoff = { firstMs: 300, maxMs: 10_000 }

/** Returns the delay before retry number `failures` (counted from 1), in milliseconds. `random` is in [0, 1). */
export function retryDelayMs(failures: number, random: number): number {
  return backoffDelayMs(failures, RETRY_BACKOFF, random)
}
