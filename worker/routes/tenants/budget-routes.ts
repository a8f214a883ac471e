/** budget-routes.ts: the budgets of a tenant, its roles and users, and what is left of them for the user who asks. */

import { type Context, Hono } from "hono"
import { budgetChangeSchema } from "../../../shared/usage/budget-limits.ts"
import type { UserBudgets } from "../../../shared/usage/budget-view.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { directoryStub, tenantStub } from "../../platform/rpc/object-stubs.ts"
import { readAdministrator } from "../access/request-actor.ts"
import { type AppEnv, readBody } from "../request-body.ts"

export const budgetRoutes = new Hono<AppEnv>()

budgetRoutes.get("/", async (context) =>
  context.json(await tenantStub(context.env, context.get("claims").tenant).listBudgets()),
)

budgetRoutes.put("/", async (context) => {
  const body = await readBody(context, budgetChangeSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const tenant = tenantStub(context.env, context.get("claims").tenant)
  const changed = await tenant.changeBudgets(readAdministrator(context), body.value)
  return changed.ok ? context.json(changed.value) : faultToResponse(changed.fault)
})

/** `GET /v1/usage/me`. */
export async function readOwnBudgets(context: Context<AppEnv>): Promise<Response> {
  const budgets = await directoryStub(context.env, context.get("claims")).readBudgets()
  return context.json({ budgets } satisfies UserBudgets)
}
