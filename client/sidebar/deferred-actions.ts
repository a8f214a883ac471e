/** deferred-actions.ts: loads session-actions.tsx, which the first view doesn't need. */

import { deferModule } from "../ui/deferred-module.ts"

export const sessionActions = deferModule(() => import("./session-actions.tsx"))
