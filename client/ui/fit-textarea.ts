/**
 * fit-textarea.ts: a field as high as its text; CSS says how high at most.
 *
 * CSS does it by itself (`field-sizing: content`) in the browsers that know how. In the others the height follows the
 * text, and the width, which buttons beside it and the window change. Source: SPEC PG28.
 */

import type { RefObject } from "preact"
import { useLayoutEffect } from "preact/hooks"

export function useFit(field: RefObject<HTMLTextAreaElement | null>, text: string): void {
  useLayoutEffect(() => {
    if (field.current !== null) fit(field.current)
  }, [text])
  useLayoutEffect(() => {
    const element = field.current
    if (element === null || fitsItself()) return undefined
    let width = 0
    const watch = new ResizeObserver(() => {
      // Its own change of height is no news.
      if (element.clientWidth !== width) fit(element)
      width = element.clientWidth
    })
    watch.observe(element)
    return () => watch.disconnect()
  }, [])
}

/** Through the element, since the page allows no inline styles. */
function fit(field: HTMLTextAreaElement): void {
  if (fitsItself()) return
  field.style.height = "auto"
  field.style.height = `${field.scrollHeight}px`
}

function fitsItself(): boolean {
  return CSS.supports("field-sizing", "content")
}
