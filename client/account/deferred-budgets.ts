/** deferred-budgets.ts: loads what the user's menu shows of budgets, when it is opened for the first time. */

import { deferModule } from "../ui/deferred-module.ts"

export const budgetMeters = deferModule(() => import("./budget-meters.tsx"))
