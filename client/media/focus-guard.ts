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
const MAX_TAKEN = 3

export function useKeyboard(frame: RefObject<HTMLIFrameElement | null>, onTaken: () => void): void {
  useEffect(() => {
    let field: HTMLElement | null = null
    let writtenAt = Number.NEGATIVE_INFINITY
    let taken = 0
    const write = ({ target, timeStamp }: Event): void => {
      if (isField(target)) writtenAt = timeStamp
    }
    const leave = ({ target }: FocusEvent): void => {
      field = isField(target) ? target : null
    }
    const lose = ({ timeStamp }: FocusEvent): void => {
      const { current } = frame
      const [back, isWriting] = [field, timeStamp - writtenAt < WRITING_MS]
      if (current === null || document.activeElement !== current || back === null || !isWriting) return
      if (++taken >= MAX_TAKEN) onTaken()
      // Within this event the browser would go on to give it to the frame.
      setTimeout(() => {
        current.blur()
        window.focus()
        back.focus({ preventScroll: true })
      })
    }
    const onKey = (event: KeyboardEvent): void => {
      // Tab leads out of a field.
      if (event.key !== "Tab") write(event)
    }
    addEventListener("keydown", onKey, true)
    addEventListener("pointerdown", write, true)
    addEventListener("focusout", leave, true)
    addEventListener("blur", lose)
    return () => {
      removeEventListener("keydown", onKey, true)
      removeEventListener("pointerdown", write, true)
      removeEventListener("focusout", leave, true)
      removeEventListener("blur", lose)
    }
  }, [])
}

function isField(target: EventTarget | null): target is HTMLElement {
  return target instanceof HTMLElement && target.matches("textarea, input, [contenteditable]")
}
