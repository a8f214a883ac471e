/**
 * pause.ts: waiting that ends when it is told to.
 */

/**
 * Waits, at least until the event loop has come round once, also where `ms` is nothing or less.
 *
 * Errors  throws the signal's reason once the signal is aborted.
 */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  await new Promise<void>((resolve) => {
    const timer = setTimeout(finish, Math.max(0, ms))
    function finish(): void {
      clearTimeout(timer)
      signal.removeEventListener("abort", finish)
      resolve()
    }
    signal.addEventListener("abort", finish)
  })
  signal.throwIfAborted()
}
