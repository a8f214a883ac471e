/**
 * deferred-calls.ts: the code for tool calls and for messages between agents, loaded after the transcript or when the
 * first of them is rendered.
 */

import { deferModule } from "../../ui/deferred-module.ts"

export const callViews = deferModule(() => import("./call-views.tsx"))
