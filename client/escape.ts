/**
 * escape.ts: who takes the Escape key.
 *
 * An input method, then what stands nearest (an editor, a picture that is looked at), then the drawer, then what plays,
 * then the answer under way. Source: SPEC PG18, PG39.
 */

import type { Signal } from "@preact/signals"
import { stopSound } from "./media/sound.ts"

/** Hears the key last, at the window. */
export function takeEscape(event: KeyboardEvent, isDrawerOpen: Signal<boolean>, stop: () => void): void {
  if (event.key !== "Escape" || event.isComposing || event.keyCode === 229 || event.defaultPrevented) return
  // Held down it would stop what is queued too.
  if (event.repeat) return
  if (isDrawerOpen.peek()) isDrawerOpen.value = false
  else if (!stopSound()) stop()
}
