/** deferred-media.ts: the code of media and canvas documents, loaded after the transcript or with the first of them. */

import { deferModule } from "../../ui/deferred-module.ts"

export const mediaViews = deferModule(() => import("./media-views.tsx"))
