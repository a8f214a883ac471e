/** deferred-sources.ts: the views of numbered sources, loaded with the first answer that has some. */

import { deferModule } from "../../ui/deferred-module.ts"

/** Until they are loaded, links are drawn without numbers. */
export const sourceViews = deferModule(() => import("./source-views.ts"))
