/**
 * focus-guard.ts: keeps a framed document from taking the focus while the user is typing.
 *
 * A framed document can focus itself at any time and then receives the keystrokes; no browser policy prevents this. The
 * page gets no event when the user clicks into a frame, so the guard relies on timing: if the user typed in a field, or
 * clicked or tapped it, within the last second, the focus returns to the field. SPEC PG52.
 */

import type { RefObject } from "preact"
import { useEffect } from "preact/hooks"
import { getActiveElement, getEventTarget } from "../ui/kept-focus/page-elements.ts"

/** A field is considered in use for this long after the last keystroke, click or tap, in milliseconds. */
const TYPING_MS = 1_000

/**
 * A document that takes the focus this many times is reported. Some documents legitimately focus a field once, when
 * they load.
 */
const STOLEN_FOCUS_REPORT_THRESHOLD = 3

export function useFocusGuard(frame: RefObject<HTMLIFrameElement | null>, onFocusStolen: () => void): void {
  useEffect(() => guardFocus(frame, onFocusStolen), [])
}

/** Guards the focus. Returns a function that removes the guard. */
function guardFocus(frame: RefObject<HTMLIFrameElement | null>, onFocusStolen: () => void): () => void {
  let lastField: HTMLElement | null = null
  let lastActivityAt = Number.NEGATIVE_INFINITY
  let stolenCount = 0
  const noteActivity = (event: Event): void => {
    if (isTextField(getEventTarget(event))) lastActivityAt = event.timeStamp
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    // With Tab, the user leaves the field on purpose.
    if (event.key !== "Tab") noteActivity(event)
  }
  const onFocusOut = (event: FocusEvent): void => {
    const target = getEventTarget(event)
    lastField = isTextField(target) ? target : null
  }
  const onBlur = ({ timeStamp }: FocusEvent): void => {
    const { current } = frame
    const isTyping = timeStamp - lastActivityAt < TYPING_MS
    if (current === null || getActiveElement() !== current || lastField === null || !isTyping) return
    if (++stolenCount >= STOLEN_FOCUS_REPORT_THRESHOLD) onFocusStolen()
    returnFocus(current, lastField)
  }
  addEventListener("keydown", onKeyDown, true)
  addEventListener("pointerdown", noteActivity, true)
  addEventListener("focusout", onFocusOut, true)
  addEventListener("blur", onBlur)
  return () => {
    removeEventListener("keydown", onKeyDown, true)
    removeEventListener("pointerdown", noteActivity, true)
    removeEventListener("focusout", onFocusOut, true)
    removeEventListener("blur", onBlur)
  }
}

/**
 * Returns the focus to the field. Deferred, because the browser moves the focus to the frame only after the blur event.
 */
function returnFocus(frame: HTMLIFrameElement, field: HTMLElement): void {
  setTimeout(() => {
    frame.blur()
    window.focus()
    field.focus({ preventScroll: true })
  })
}

function isTextField(target: EventTarget | null): target is HTMLElement {
  return target instanceof HTMLElement && target.matches("textarea, input, [contenteditable]")
}
