/** deferred-calls.ts: the code of tool calls and of messages between agents, loaded after the transcript or with the first one. */

import { deferModule } from "../../ui/deferred-module.ts"

export const callViews = deferModule(() => import("./call-views.tsx"))
