/**
 * until-aborted.ts: what a stream says until an abort: one that does not obey it is not waited for.
 */

/** Ends, without an error, with the stream or with the abort, whichever comes first. */
export async function* iterateUntilAborted<T>(items: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const stream = items[Symbol.asyncIterator]()
  let wake = (): void => {}
  const abort = (): void => wake()
  signal.addEventListener("abort", abort, { once: true })
  try {
    while (!signal.aborted) {
      // A promise of its own each time: one that lasts keeps all that was ever raced against it.
      const next = await new Promise<IteratorResult<T> | null>((resolve, reject) => {
        wake = () => resolve(null)
        stream.next().then(resolve, reject)
      })
      if (next === null || signal.aborted || next.done === true) return
      yield next.value
    }
  } finally {
    signal.removeEventListener("abort", abort)
    // Whoever leaves early lets the stream know, and does not wait for its answer.
    stream.return?.().catch(() => {})
  }
}
