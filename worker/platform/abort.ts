/** abort.ts: stops waiting for a promise or a stream when a signal is aborted. The work itself is not stopped. */

/** Settles like `promise`, or rejects as soon as the signal is aborted. A later result is ignored. */
export function rejectOnAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new Error("aborted"))
    if (signal.aborted) abort()
    signal.addEventListener("abort", abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort))
  })
}

/**
 * Yields the items of a stream until it ends or the signal is aborted. An abort ends the iteration without an error.
 */
export async function* iterateUntilAborted<T>(items: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const stream = items[Symbol.asyncIterator]()
  let wake = (): void => {}
  const abort = (): void => wake()
  signal.addEventListener("abort", abort, { once: true })
  try {
    while (!signal.aborted) {
      // A new promise per item, because a long-lived promise would retain everything that was raced against it.
      const next = await new Promise<IteratorResult<T> | null>((resolve, reject) => {
        wake = () => resolve(null)
        stream.next().then(resolve, reject)
      })
      if (next === null || signal.aborted || next.done === true) return
      yield next.value
    }
  } finally {
    signal.removeEventListener("abort", abort)
    // Close the stream, but do not wait for it, because it may ignore the abort.
    stream.return?.().catch(() => {})
  }
}
