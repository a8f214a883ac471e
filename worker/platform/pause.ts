/** pause.ts: an abortable delay. */

/**
 * Waits for `ms`. Even with 0, it waits until the next turn of the event loop.
 *
 * Errors: throws the signal's reason when the signal is aborted.
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
