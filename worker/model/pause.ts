/**
 * pause.ts: waiting that ends when it is told to.
 */

/**
 * Waits, at least until the event loop has come round once.
 *
 * Errors  throws the signal's reason once the signal is aborted.
 */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  await new Promise<void>((resolve) => {
    const timer = setTimeout(over, ms)
    function over(): void {
      clearTimeout(timer)
      signal.removeEventListener("abort", over)
      resolve()
    }
    signal.addEventListener("abort", over)
  })
  signal.throwIfAborted()
}
