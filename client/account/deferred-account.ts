/** deferred-account.ts: loads the code for the user menu, which isn't needed for the initial render. */

import { deferModule } from "../ui/deferred-module.ts"

export const userMenu = deferModule(() => import("./user-menu.tsx"))
