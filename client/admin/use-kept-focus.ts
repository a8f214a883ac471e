/** use-kept-focus.ts: moves the focus to a heading when the focused element is removed, for example with its row. */

import type { RefObject } from "preact"
import { useEffect } from "preact/hooks"

/** Without this, the browser would move the focus to the top of the page, and a screen reader would lose its place. */
export function useKeptFocus(headingRef: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    let focused: EventTarget | null = null
    const rememberFocus = (event: FocusEvent): void => {
      focused = event.target
    }
    const observer = new MutationObserver(() => {
      if (!(focused instanceof Node) || focused.isConnected) return
      focused = null
      if (document.activeElement === document.body) headingRef.current?.focus({ preventScroll: true })
    })
    addEventListener("focusin", rememberFocus)
    observer.observe(document.body, { childList: true, subtree: true })
    return () => {
      removeEventListener("focusin", rememberFocus)
      observer.disconnect()
    }
  }, [])
}
