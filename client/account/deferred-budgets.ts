/** deferred-budgets.ts: loads the code for the budget meters when the user menu is first opened. */

import { deferModule } from "../ui/deferred-module.ts"

export const budgetMeters = deferModule(() => import("./budget-meters.tsx"))
