/**
 * deferred-media.ts: the code for media and canvas documents, loaded after the transcript or when the first such
 * element is rendered.
 */

import { deferModule } from "../../ui/deferred-module.ts"

export const mediaViews = deferModule(() => import("./media-views.tsx"))
