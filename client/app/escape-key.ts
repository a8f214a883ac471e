/**
 * escape-key.ts: handles the Escape key.
 *
 * The key does the first of these that applies: it ends an input method's composition, closes an editor, menu, dialog
 * or the lightbox, closes the drawer, stops playback, removes the reply reference, or stops the running answer. Source:
 * SPEC PG18, PG58, PG73.
 */

import type { Signal } from "@preact/signals"
import { stopPlayback } from "../media/exclusive-playback.ts"

export interface EscapeContext {
  readonly isDrawerOpen: Signal<boolean>
  /** Id of the message being replied to. */
  readonly replyTo: Signal<string | null>
  stopAnswer(): void
}

/** Handles the key. Called by a listener on the window, after all other handlers. */
export function handleEscape(event: KeyboardEvent, { isDrawerOpen, replyTo, stopAnswer }: EscapeContext): void {
  if (event.key !== "Escape" || event.isComposing || event.keyCode === 229 || event.defaultPrevented) return
  // Holding the key down would also stop the queued answers.
  if (event.repeat) return
  if (isDrawerOpen.peek()) isDrawerOpen.value = false
  else if (stopPlayback()) return
  else if (replyTo.peek() !== null) replyTo.value = null
  else stopAnswer()
}
