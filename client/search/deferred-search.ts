/**
 * deferred-search.ts: loads the command palette, the search and the shortcuts, which the initial render doesn't need.
 */

import { deferModule } from "../ui/deferred-module.ts"

export const searchTools = deferModule(() => import("./search-tools.tsx"))
