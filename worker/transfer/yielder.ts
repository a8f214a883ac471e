/** yielder.ts: lets long loops give way to other requests of the same object. */

/** Batches between yields, so that pages and progress can be read while a file is folded. */
export const FOLD_YIELD_BATCHES = 8

/** Returns a function that waits for one macrotask on every `interval`-th call. */
export function createYielder(interval: number): () => Promise<void> {
  let calls = 0
  return async () => {
    calls += 1
    if (calls % interval === 0) await new Promise((resolve) => setTimeout(resolve))
  }
}
