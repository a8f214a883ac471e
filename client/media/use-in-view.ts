/**
 * use-in-view.ts: has something come near to what the reader sees? What costs is not done before.
 */

import type { RefObject } from "preact"
import { useEffect, useState } from "preact/hooks"

/** So far from the window counts as near. */
const NEAR_MARGIN = "600px"

export function useInView(element: RefObject<Element | null>): boolean {
  const [isInView, setInView] = useState(false)
  useEffect(() => {
    const { current } = element
    if (isInView || current === null) return undefined
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setInView(true)
      },
      // The transcript scrolls in a box of its own, which cuts off what `rootMargin` would add.
      { rootMargin: NEAR_MARGIN, scrollMargin: NEAR_MARGIN },
    )
    observer.observe(current)
    return () => observer.disconnect()
  }, [isInView])
  return isInView
}
