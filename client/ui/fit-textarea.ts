/**
 * fit-textarea.ts: makes a text area as tall as its text, up to the maximum set in CSS.
 *
 * Browsers that support `field-sizing: content` do this without a script. In other browsers, the height is set whenever
 * the text or the width changes. Source: SPEC PG28.
 */

import type { RefObject } from "preact"
import { useLayoutEffect } from "preact/hooks"

export function useFitTextarea(field: RefObject<HTMLTextAreaElement | null>, text: string): void {
  useLayoutEffect(() => {
    if (field.current !== null) fitHeight(field.current)
  }, [text])
  useLayoutEffect(() => {
    const element = field.current
    if (element === null || supportsFieldSizing()) return undefined
    let width = 0
    const observer = new ResizeObserver(() => {
      // Ignores changes to the height, which fitHeight itself causes.
      if (element.clientWidth !== width) fitHeight(element)
      width = element.clientWidth
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
}

/** Sets the style as a DOM property, because the page's content security policy forbids style attributes. */
function fitHeight(field: HTMLTextAreaElement): void {
  if (supportsFieldSizing()) return
  field.style.height = "auto"
  field.style.height = `${field.scrollHeight}px`
}

function supportsFieldSizing(): boolean {
  return CSS.supports("field-sizing", "content")
}
