/** yielder.ts: lets long loops give way to other requests to the same object. */

/**
 * Number of batches between yields. These batches take a few milliseconds, so other requests are served while a file is
 * folded. SPEC RE41.
 */
export const FOLD_YIELD_BATCHES = 2

/** Returns a function that waits for one macrotask on every `interval`-th call. */
export function createYielder(interval: number): () => Promise<void> {
  let calls = 0
  return async () => {
    calls += 1
    if (calls % interval === 0) await new Promise((resolve) => setTimeout(resolve))
  }
}
