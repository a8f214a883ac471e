/**
 * deferred-tools.ts: the code for reading that is loaded when a text first needs it: highlighting and buttons for code and
 * tables, and the typesetting of formulas.
 */

import { useEffect } from "preact/hooks"
import { deferModule } from "../../ui/deferred-module.ts"

export const readingTools = deferModule(() => import("../reading/reading-tools.ts"))
export const mathTypesetter = deferModule(() => import("../math/formula.tsx"))

/** Loads the tools for code and tables. If that fails, the text is shown without them. */
export function useReadingTools(): void {
  useEffect(() => void readingTools.load(), [])
}
