/** deferred-budgets.ts: loads the budgets of the user's menu when it is opened for the first time. */

import { deferModule } from "../ui/deferred-module.ts"

export const budgetMeters = deferModule(() => import("./budget-meters.tsx"))
