/** deferred-chips.ts: loads attachment-chips.tsx, which the first view doesn't need. */

import { deferModule } from "../ui/deferred-module.ts"

export const attachmentChips = deferModule(() => import("./attachment-chips.tsx"))
