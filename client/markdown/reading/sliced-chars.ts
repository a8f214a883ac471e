/**
 * sliced-chars.ts: determines how much of a code block is highlighted at the moment. Long code is highlighted in
 * slices, each in its own task, and all blocks that are rendered in one task share a budget. SPEC PF1, MD17.
 */

import { useEffect, useRef, useState } from "preact/hooks"
import { scheduleSlice } from "../slice-queue.ts"

/** The size of a slice, in UTF-16 code units: about 10 ms on a desktop computer. */
export const CODE_SLICE_CHARS = 12_000

/** The budget left in this task. */
let taskBudget = CODE_SLICE_CHARS
let isResetScheduled = false

function takeFromBudget(chars: number): number {
  if (!isResetScheduled) {
    isResetScheduled = true
    setTimeout(() => {
      isResetScheduled = false
      taskBudget = CODE_SLICE_CHARS
    })
  }
  const taken = Math.min(chars, taskBudget)
  taskBudget -= taken
  return taken
}

/** Returns the end of the part that is highlighted: the whole text, or the end of a line. */
export function useSlicedChars(text: string): number {
  const ready = useRef(0)
  const [, redraw] = useState(0)
  if (ready.current > text.length) ready.current = text.length
  ready.current += takeFromBudget(text.length - ready.current)
  const isSliced = ready.current < text.length
  useEffect(() => {
    if (!isSliced) return undefined
    return scheduleSlice(() => redraw((count) => count + 1))
  })
  return isSliced ? text.lastIndexOf("\n", ready.current - 1) + 1 : text.length
}
