/**
 * use-text-part.ts: renders long text in slices, each in its own task, and in parts that the reader requests.
 *
 * All text on the page shares one budget per task, so that a page full of long answers doesn't block the main thread.
 * The final result depends only on the text and the number of parts. SPEC PF1, PF2.
 */

import { useEffect, useMemo, useState } from "preact/hooks"
import { scheduleSlice } from "./slice-queue.ts"
import { measureText, PART_COST, SLICE_COST, TextMeter } from "./text-part.ts"

/** Total cost budget for texts whose initial render is in the same task, for example a page of history. */
export const FIRST_TASK_COST = 3 * SLICE_COST
/** At least this much of every text is rendered at once. Most answers cost less. */
export const MIN_FIRST_COST = 6_000

/** The budget that is left in this task for texts that are rendered for the first time. */
let firstTaskBudget = FIRST_TASK_COST
let isResetScheduled = false

export interface TextPart {
  /** The beginning of the text that is shown. */
  readonly shown: string
  /** The number of code units that are shown only on request; 0 while slices are being added. */
  readonly hiddenChars: number
  showMore(): void
}

export function useTextPart(text: string): TextPart {
  const [partCost, setPartCost] = useState(PART_COST)
  const [sliceCost, setSliceCost] = useState(() => takeFirstSlice(text))
  const maxCost = Math.min(partCost, sliceCost)
  const meter = useMemo(() => ({ current: new TextMeter(maxCost) }), [maxCost])
  if (!meter.current.canMeasure(text)) meter.current = new TextMeter(maxCost)
  const { end } = meter.current.measure(text)
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

/** Returns the cost of the first slice. Text that fits into the budget is rendered at once. */
function takeFirstSlice(text: string): number {
  if (!isResetScheduled) {
    isResetScheduled = true
    setTimeout(() => {
      isResetScheduled = false
      firstTaskBudget = FIRST_TASK_COST
    })
  }
  const sliceCost = Math.min(SLICE_COST, Math.max(firstTaskBudget, MIN_FIRST_COST))
  firstTaskBudget -= measureText(text, sliceCost).cost
  return sliceCost
}
