/** deferred-lightbox.ts: the code for the lightbox, loaded when the first image has loaded. */

import { deferModule } from "../../ui/deferred-module.ts"

export const lightboxModule = deferModule(() => import("../lightbox.tsx"))
