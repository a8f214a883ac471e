/**
 * use-in-view.ts: detects when an element comes near the viewport, for work that should wait until then.
 */

import type { RefObject } from "preact"
import { useEffect, useState } from "preact/hooks"

/** An element that is closer to the viewport than this counts as in view. */
const NEAR_MARGIN = "600px"

/** Returns whether the element has come near the viewport. Stays true once it has been true. */
export function useInView(element: RefObject<Element | null>): boolean {
  const [isInView, setInView] = useState(false)
  useEffect(() => {
    const { current } = element
    if (isInView || current === null) return undefined
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setInView(true)
      },
      // The transcript is a scroll container, which clips what `rootMargin` adds, so `scrollMargin` is also needed.
      { rootMargin: NEAR_MARGIN, scrollMargin: NEAR_MARGIN },
    )
    observer.observe(current)
    return () => observer.disconnect()
  }, [isInView])
  return isInView
}
