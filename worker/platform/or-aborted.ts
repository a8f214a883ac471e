/** or-aborted.ts: what is waited for, or the end of the waiting: the work itself may go on. */

/** Rejects as soon as the signal is aborted; what comes after is dropped. */
export function rejectOnAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new Error("aborted"))
    if (signal.aborted) abort()
    signal.addEventListener("abort", abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort))
  })
}
