/**
 * focus-guard.ts: who writes keeps the keyboard.
 *
 * blur of the page → KEYBOARD → focus back, or the frame goes
 * A framed document may take the focus at any time, and then has what is typed next. No policy stops that. The page is not
 * told when a reader presses a frame, so the two are told apart by how long ago the reader was writing. Source: SPEC PG52.
 */

import type { RefObject } from "preact"
import { useEffect } from "preact/hooks"

/** A field that was typed in or pressed so recently is being written in, in milliseconds. */
const WRITING_MS = 1_000

/** Some documents focus what they hold when they begin. One that takes the focus so often means it. */
const MAX_STOLEN_FOCUS = 3

export function useFocusGuard(frame: RefObject<HTMLIFrameElement | null>, onFocusStolen: () => void): void {
  useEffect(() => {
    let field: HTMLElement | null = null
    let writtenAt = Number.NEGATIVE_INFINITY
    let stolenCount = 0
    const noteWriting = ({ target, timeStamp }: Event): void => {
      if (isTextField(target)) writtenAt = timeStamp
    }
    const onFocusOut = ({ target }: FocusEvent): void => {
      field = isTextField(target) ? target : null
    }
    const onBlur = ({ timeStamp }: FocusEvent): void => {
      const { current } = frame
      const [lastField, isWriting] = [field, timeStamp - writtenAt < WRITING_MS]
      if (current === null || document.activeElement !== current || lastField === null || !isWriting) return
      if (++stolenCount >= MAX_STOLEN_FOCUS) onFocusStolen()
      // Within this event the browser would go on to give it to the frame.
      setTimeout(() => {
        current.blur()
        window.focus()
        lastField.focus({ preventScroll: true })
      })
    }
    const onKey = (event: KeyboardEvent): void => {
      // Tab leads out of a field.
      if (event.key !== "Tab") noteWriting(event)
    }
    addEventListener("keydown", onKey, true)
    addEventListener("pointerdown", noteWriting, true)
    addEventListener("focusout", onFocusOut, true)
    addEventListener("blur", onBlur)
    return () => {
      removeEventListener("keydown", onKey, true)
      removeEventListener("pointerdown", noteWriting, true)
      removeEventListener("focusout", onFocusOut, true)
      removeEventListener("blur", onBlur)
    }
  }, [])
}

function isTextField(target: EventTarget | null): target is HTMLElement {
  return target instanceof HTMLElement && target.matches("textarea, input, [contenteditable]")
}
