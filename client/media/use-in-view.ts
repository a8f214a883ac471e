/**
 * use-in-view.ts: has something come near to what the reader sees? What costs is not done before.
 */

import type { RefObject } from "preact"
import { useEffect, useState } from "preact/hooks"

/** So far from the window counts as near. */
const NEAR = "600px"

export function useSeen(element: RefObject<Element | null>): boolean {
  const [isSeen, setSeen] = useState(false)
  useEffect(() => {
    const { current } = element
    if (isSeen || current === null) return undefined
    const watch = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true)
      },
      // The transcript scrolls in a box of its own, which cuts off what `rootMargin` would add.
      { rootMargin: NEAR, scrollMargin: NEAR },
    )
    watch.observe(current)
    return () => watch.disconnect()
  }, [isSeen])
  return isSeen
}
