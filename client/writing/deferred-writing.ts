/** deferred-writing.ts: loads the tools of the composer and of answers, which the first view doesn't need. */

import { deferModule } from "../ui/deferred-module.ts"

export const composerTools = deferModule(() => import("./composer-tools.tsx"))
export const answerTools = deferModule(() => import("./answers/answer-tools.tsx"))
