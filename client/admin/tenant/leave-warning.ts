/**
 * leave-warning.ts: makes the browser ask for confirmation before the page is left while something is unsaved or being
 * transferred.
 */

import { effect } from "@preact/signals"

/**
 * Makes the browser ask for confirmation as long as `isBusy`, which reads signals, returns true. Returns a function
 * that ends this.
 */
export function warnBeforeLeaving(isBusy: () => boolean): () => void {
  return effect(() => {
    if (!isBusy()) return undefined
    addEventListener("beforeunload", askBeforeLeaving)
    return () => removeEventListener("beforeunload", askBeforeLeaving)
  })
}

function askBeforeLeaving(event: Event): void {
  event.preventDefault()
}
