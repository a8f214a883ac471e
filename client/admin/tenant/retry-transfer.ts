/** retry-transfer.ts: retries the transfer of a file after temporary failures. */

import { isPermanentRefusal, RequestError } from "../../net/http-request.ts"
import { retryDelayMs } from "../../net/retry-delay.ts"

/** Maximum attempts per file if the connection breaks or the server is busy. The delays add up to about ten seconds. */
const MAX_ATTEMPTS = 6

export interface RetryDeps {
  random(): number
  wait(ms: number): Promise<void>
}

/**
 * Transfers a file, in at most MAX_ATTEMPTS attempts. Transferring it twice must be safe. Throws as soon as `signal` is
 * aborted, even while the page is waiting because of a rate limit.
 */
export async function retryTransfer<T>(
  { wait, random }: RetryDeps,
  signal: AbortSignal,
  transfer: () => Promise<T>,
): Promise<T> {
  const aborted = new Promise<never>((_done, abort) =>
    signal.addEventListener("abort", () => abort(signal.reason), { once: true }),
  )
  // Prevents an unhandled rejection if nothing awaits this promise when the signal is aborted.
  aborted.catch(() => {})
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted()
    try {
      return await Promise.race([transfer(), aborted])
    } catch (error) {
      const isLasting = error instanceof RequestError && isPermanentRefusal(error)
      if (isLasting || signal.aborted || attempt === MAX_ATTEMPTS) throw error
      await Promise.race([wait(retryDelayMs(attempt, random())), aborted])
    }
  }
}
