/**
 * use-text-part.ts: draws a long text in slices, each in its own task, and in parts that the reader asks for.
 *
 * All texts of the page share one budget per task, so a page of long answers doesn't block it either. What is shown in
 * the end depends on the text and the number of parts alone. SPEC PF1, PF2.
 */

import { useEffect, useState } from "preact/hooks"
import { scheduleSlice } from "./slice-queue.ts"
import { measureText, PART_COST, SLICE_COST } from "./text-part.ts"

/** Every text shows at least this much at once, so that no message is empty. */
const MIN_FIRST_COST = 2_000

/** What the texts that are drawn for the first time in this task may still cost. */
let firstSliceBudget = SLICE_COST
let isResetScheduled = false

export interface TextPart {
  /** The beginning of the text that is shown. */
  readonly shown: string
  /** The number of code units that are shown only when the reader asks; 0 while slices are being added. */
  readonly hiddenChars: number
  showMore(): void
}

export function useTextPart(text: string): TextPart {
  const [partCost, setPartCost] = useState(PART_COST)
  const [sliceCost, setSliceCost] = useState(() => takeFirstSlice(text))
  const maxCost = Math.min(partCost, sliceCost)
  const { end } = measureText(text, maxCost)
  const isSliced = end < text.length && sliceCost < partCost
  useEffect(() => {
    if (!isSliced) return undefined
    return scheduleSlice(() => setSliceCost(sliceCost + SLICE_COST))
  }, [isSliced, sliceCost])
  return {
    shown: end === text.length ? text : text.slice(0, end),
    hiddenChars: isSliced ? 0 : text.length - end,
    showMore: () => setPartCost(partCost + PART_COST),
  }
}

/** The cost of the first slice. A text that fits into the budget is drawn at once. */
function takeFirstSlice(text: string): number {
  if (!isResetScheduled) {
    isResetScheduled = true
    setTimeout(() => {
      isResetScheduled = false
      firstSliceBudget = SLICE_COST
    })
  }
  const { cost } = measureText(text, Math.max(firstSliceBudget, MIN_FIRST_COST))
  const sliceCost = Math.max(firstSliceBudget, MIN_FIRST_COST)
  firstSliceBudget -= cost
  return sliceCost
}
