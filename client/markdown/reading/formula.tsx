/**
 * formula.tsx: a formula as MathML.
 *
 * Each formula has an element with its source, which is what is copied (copy-selection.ts). A formula that can't be
 * typeset is shown as it was written. SPEC MD12, MD13.
 */

import type { ComponentChildren, VNode } from "preact"
import { useEffect, useState } from "preact/hooks"
import { renderLongText } from "../long-text.tsx"
import { scheduleSlice } from "../slice-queue.ts"
import { readMathSource } from "../syntax/math-syntax.ts"

/**
 * How much is typeset in one task, in UTF-16 code units of the formulas' sources: about 10 ms on a desktop computer.
 */
const TASK_CHARS = 1_000
/** Maximum number of typeset formulas that are kept, whether or not they are still rendered. */
const MAX_KNOWN = 500

const knownFormulas = new Map<string, VNode | null>()
let taskBudget = TASK_CHARS
let isResetScheduled = false

function isWithinBudget(chars: number): boolean {
  if (!isResetScheduled) {
    isResetScheduled = true
    setTimeout(() => {
      isResetScheduled = false
      taskBudget = TASK_CHARS
    })
  }
  if (taskBudget <= 0) return false
  taskBudget -= chars
  return true
}

/** `typesetMath` of math/typeset-math.tsx. */
type Typeset = (tex: string, isDisplay: boolean) => VNode | null

function typesetOnce(source: string, typeset: Typeset): VNode | null {
  const known = knownFormulas.get(source)
  if (known !== undefined) return known
  const { tex, isDisplay } = readMathSource(source)
  const formula = typeset(tex, isDisplay)
  for (const oldest of knownFormulas.keys()) {
    if (knownFormulas.size < MAX_KNOWN) break
    knownFormulas.delete(oldest)
  }
  knownFormulas.set(source, formula)
  return formula
}

interface FormulaProps {
  readonly source: string
  readonly typeset: Typeset
}

export function Formula({ source, typeset }: FormulaProps): ComponentChildren {
  const [, redraw] = useState(0)
  const isReady = knownFormulas.has(source) || isWithinBudget(source.length)
  useEffect(() => (isReady ? undefined : scheduleSlice(() => redraw((count) => count + 1))))
  const formula = isReady ? typesetOnce(source, typeset) : null
  if (formula === null) return renderLongText(source)
  const { isDisplay } = readMathSource(source)
  return (
    <span class={isDisplay ? "math math-display" : "math"} data-tex={source}>
      {formula}
    </span>
  )
}
