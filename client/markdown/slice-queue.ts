/**
 * slice-queue.ts: divides rendering into slices, each in its own idle task, so that the page responds between them.
 *
 * All views of the page share the queue. SPEC PF1, PF4.
 */

import { useEffect, useState } from "preact/hooks"

/** A slice is rendered after this time even if the page isn't idle. */
const MAX_WAIT_MS = 200

/** The views that are waiting for their next slice. */
const waiting: (() => void)[] = []
let isDrawScheduled = false

/**
 * Calls `draw` in an idle task of its own. The newest request runs first, because the end of a transcript is in view.
 * Returns a function that cancels the request.
 */
export function scheduleSlice(draw: () => void): () => void {
  waiting.push(draw)
  scheduleDraw()
  return () => {
    const at = waiting.indexOf(draw)
    if (at >= 0) waiting.splice(at, 1)
  }
}

function scheduleDraw(): void {
  if (isDrawScheduled) return
  isDrawScheduled = true
  // Safari has no requestIdleCallback.
  if (typeof requestIdleCallback === "function") requestIdleCallback(drawNext, { timeout: MAX_WAIT_MS })
  else setTimeout(drawNext)
}

function drawNext(): void {
  isDrawScheduled = false
  waiting.pop()?.()
  if (waiting.length > 0) scheduleDraw()
}

/** Number of list items that one slice adds. */
export const SLICE_ITEMS = 100
/** Number of items shown before a button offers the rest. The longest importable answer takes two parts. */
export const PART_ITEMS = 4_000

export interface SlicedCount {
  readonly shown: number
  /** The number of items that are shown only on request; 0 while slices are being added. */
  readonly hidden: number
  showMore(): void
}

/** Returns the number of list items that are currently rendered. */
export function useSlicedCount(total: number): SlicedCount {
  const [part, setPart] = useState(PART_ITEMS)
  const [slice, setSlice] = useState(SLICE_ITEMS)
  const isSliced = slice < Math.min(total, part)
  useEffect(() => {
    if (!isSliced) return undefined
    return scheduleSlice(() => setSlice(slice + SLICE_ITEMS))
  }, [isSliced, slice])
  const shown = Math.min(total, part, slice)
  return { shown, hidden: isSliced ? 0 : total - shown, showMore: () => setPart(part + PART_ITEMS) }
}
