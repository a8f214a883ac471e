/** deferred-chips.ts: loads attachment-chips.tsx, which isn't needed for the initial render. */

import { deferModule } from "../ui/deferred-module.ts"

export const attachmentChips = deferModule(() => import("./attachment-chips.tsx"))
