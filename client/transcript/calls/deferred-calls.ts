/**
 * deferred-calls.ts: the code of tool calls and of messages between agents, loaded after the transcript or when the
 * first of them is rendered.
 */

import { deferModule } from "../../ui/deferred-module.ts"

export const callViews = deferModule(() => import("./call-views.tsx"))
