/**
 * escape.ts: who takes the Escape key.
 *
 * An input method, then what stands nearest (an editor), then the drawer, then the answer under way. Source: SPEC PG18.
 */

import type { Signal } from "@preact/signals"

/** Hears the key last, at the window. */
export function takeEscape(event: KeyboardEvent, isDrawerOpen: Signal<boolean>, stop: () => void): void {
  if (event.key !== "Escape" || event.isComposing || event.keyCode === 229 || event.defaultPrevented) return
  // Held down it would stop what is queued too.
  if (event.repeat) return
  if (isDrawerOpen.peek()) isDrawerOpen.value = false
  else stop()
}
