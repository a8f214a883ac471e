/** deferred-sources.ts: the views of numbered sources, loaded with the first answer that has sources. */

import { deferModule } from "../../ui/deferred-module.ts"

/** The code for the views. Until it is loaded, links are rendered without numbers. */
export const sourceViews = deferModule(() => import("./source-views.ts"))
