/**
 * until-aborted.ts: what a stream says until an abort: one that does not obey it is not waited for.
 */

/** Ends, without an error, with the stream or with the abort, whichever comes first. */
export async function* untilAborted<T>(items: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const stream = items[Symbol.asyncIterator]()
  const stopped = new Promise<null>((resolve) => {
    if (signal.aborted) resolve(null)
    signal.addEventListener("abort", () => resolve(null), { once: true })
  })
  try {
    for (;;) {
      const next = await Promise.race([stopped, stream.next()])
      if (next === null || signal.aborted || next.done === true) return
      yield next.value
    }
  } finally {
    // Whoever leaves early lets the stream know, and does not wait for its answer.
    stream.return?.().catch(() => {})
  }
}
