/** leave-warning.ts: makes the browser ask before the page is left while something is unsaved or being transferred. */

import { effect } from "@preact/signals"

/** `isBusy` reads signals. */
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
