/** subscription.ts: calls a listener after each change to a snapshot. */

import type { ReadonlySignal } from "@preact/signals"

/**
 * Subscribes a listener, and returns a function that unsubscribes it. All changes within one task cause a single call.
 * An exception in the listener can't interrupt the code that made the change.
 */
export function subscribeTo(snapshot: ReadonlySignal<unknown>, listener: () => void): () => void {
  let isQueued = true
  let isEnded = false
  const unsubscribe = snapshot.subscribe(() => {
    if (isQueued) return
    isQueued = true
    queueMicrotask(() => {
      isQueued = false
      if (!isEnded) listener()
    })
  })
  // The signal calls back at once, with the state that the caller can read.
  isQueued = false
  return () => {
    isEnded = true
    unsubscribe()
  }
}
