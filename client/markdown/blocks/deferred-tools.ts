/**
 * deferred-tools.ts: the reading tools, which are loaded when some text first needs them: for code, tables, footnotes,
 * alerts and growing text, and for formulas.
 */

import { useEffect } from "preact/hooks"
import { deferModule } from "../../ui/deferred-module.ts"

export type ReadingTools = typeof import("../reading/reading-tools.ts")

export const readingTools = deferModule(() => import("../reading/reading-tools.ts"))
export const mathTypesetter = deferModule(() => import("../math/typeset-math.tsx"))

/** Loads the tools. If that fails, the text is shown without them. */
export function useReadingTools(isNeeded = true): void {
  useEffect(() => {
    if (isNeeded) void readingTools.load()
  }, [isNeeded])
}
