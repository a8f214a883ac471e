/** deferred-budgets.ts: loads the code of the budget meters when the user menu is first opened. */

import { deferModule } from "../ui/deferred-module.ts"

export const budgetMeters = deferModule(() => import("./budget-meters.tsx"))
