/**
 * deferred-writing.ts: loads the composer's tools and the actions below answers, which aren't needed for the initial
 * render.
 */

import { deferModule } from "../ui/deferred-module.ts"

export const composerTools = deferModule(() => import("./composer-tools.tsx"))
export const answerTools = deferModule(() => import("./answers/answer-tools.tsx"))
