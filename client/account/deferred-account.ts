/** deferred-account.ts: loads the code of the user menu, which the first view doesn't need. */

import { deferModule } from "../ui/deferred-module.ts"

export const userMenu = deferModule(() => import("./user-menu.tsx"))
