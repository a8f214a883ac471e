/**
 * card-motion.ts: how a card enters: once, briefly, and without a trace.
 *
 * Motion is played on the element, never written into it, so that the page after it is the page after a reload.
 * Nothing moves for a reader who asked for less motion, or in a tab that nobody sees. Source: SPEC CA4, CA5.
 */

import type { RefObject } from "preact"
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"

const ENTER_MS = 200
const ENTER_LIFT_PX = 8
const COUNT_MS = 400

function isMotionAllowed(): boolean {
  return !document.hidden && !matchMedia("(prefers-reduced-motion: reduce)").matches
}

/** Fades and lifts an element when it first stands there. */
export function useEntrance(isFresh: boolean): RefObject<HTMLElement | null> {
  const ref = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    if (!isFresh || !isMotionAllowed()) return
    const from = { opacity: 0, transform: `translateY(${ENTER_LIFT_PX}px)` }
    ref.current?.animate?.([from, { opacity: 1, transform: "none" }], { duration: ENTER_MS, easing: "ease-out" })
  }, [])
  return ref
}

/** Counts from 0 to a number when it first stands there. */
export function useCountUp(target: number, isFresh: boolean): number {
  const [shown, setShown] = useState(() => (isFresh && isMotionAllowed() ? 0 : target))
  useEffect(() => {
    if (!isFresh || !isMotionAllowed()) return
    const started = performance.now()
    let next = requestAnimationFrame(function step(now) {
      const progress = Math.min(1, Math.max(0, now - started) / COUNT_MS)
      setShown(target * (1 - (1 - progress) ** 3))
      if (progress < 1) next = requestAnimationFrame(step)
    })
    return () => cancelAnimationFrame(next)
  }, [])
  return shown
}
