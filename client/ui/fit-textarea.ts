/**
 * fit-textarea.ts: a field as high as its text; CSS says how high at most.
 *
 * CSS does it by itself (`field-sizing: content`) in the browsers that know how. In the others the height follows the
 * text, and the width, which buttons beside it and the window change. Source: SPEC PG28.
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
      // Its own change of height is no news.
      if (element.clientWidth !== width) fitHeight(element)
      width = element.clientWidth
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
}

/** Through the element, since the page allows no inline styles. */
function fitHeight(field: HTMLTextAreaElement): void {
  if (supportsFieldSizing()) return
  field.style.height = "auto"
  field.style.height = `${field.scrollHeight}px`
}

function supportsFieldSizing(): boolean {
  return CSS.supports("field-sizing", "content")
}
