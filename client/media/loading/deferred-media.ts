/** deferred-media.ts: the code of media and canvas documents, loaded after the transcript or with the first of them. */

import { deferModule } from "../../ui/deferred-module.ts"

export const mediaViews = deferModule(() => import("./media-views.tsx"))

/** The code of the lightbox. It is loaded when the first image has loaded. */
export const lightboxModule = deferModule(() => import("../lightbox.tsx"))
