/**
 * deferred-tools.ts: the code for reading that is loaded when a text first needs it: for code, tables, footnotes, alerts
 * and texts that grow, and for formulas.
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
