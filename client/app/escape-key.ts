/**
 * escape-key.ts: who takes the Escape key.
 *
 * An input method, then what stands nearest (an editor, a picture that is looked at), then the drawer, then what plays,
 * then the reply that is being written, then the answer under way. Source: SPEC PG18, PG58, PG73.
 */

import type { Signal } from "@preact/signals"
import { stopPlayback } from "../media/exclusive-playback.ts"

export interface EscapeContext {
  readonly isDrawerOpen: Signal<boolean>
  /** The message that is replied to. */
  readonly replyTo: Signal<string | null>
  stopAnswer(): void
}

/** Hears the key last, at the window. */
export function handleEscape(
  event: KeyboardEvent,
  { isDrawerOpen, replyTo: reply, stopAnswer: stop }: EscapeContext,
): void {
  if (event.key !== "Escape" || event.isComposing || event.keyCode === 229 || event.defaultPrevented) return
  // Held down it would stop what is queued too.
  if (event.repeat) return
  if (isDrawerOpen.peek()) isDrawerOpen.value = false
  else if (stopPlayback()) return
  else if (reply.peek() !== null) reply.value = null
  else stop()
}
