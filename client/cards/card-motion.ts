/**
 * card-motion.ts: a card's entrance animation, which plays once.
 *
 * The animation uses the Web Animations API and leaves no styles behind, so the page looks the same as after a reload.
 * Nothing moves if the user prefers reduced motion or the tab is hidden. SPEC CA4, CA5.
 */

import type { RefObject } from "preact"
import { useLayoutEffect, useRef } from "preact/hooks"

const ENTER_MS = 200
const ENTER_LIFT_PX = 8

function isMotionAllowed(): boolean {
  return !document.hidden && !matchMedia("(prefers-reduced-motion: reduce)").matches
}

/** Fades and lifts an element when it first appears. */
export function useEntrance<T extends HTMLElement = HTMLElement>(isFresh: boolean): RefObject<T | null> {
  const ref = useRef<T>(null)
  useLayoutEffect(() => {
    if (!isFresh || !isMotionAllowed()) return
    const from = { opacity: 0, transform: `translateY(${ENTER_LIFT_PX}px)` }
    ref.current?.animate?.([from, { opacity: 1, transform: "none" }], { duration: ENTER_MS, easing: "ease-out" })
  }, [])
  return ref
}
