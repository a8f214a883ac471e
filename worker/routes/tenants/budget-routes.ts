/** budget-routes.ts: the budgets of a tenant, its roles and users, and what is left of them for the user who asks. */

import type { Context } from "hono"
import { budgetChangeSchema } from "../../../shared/usage/budget-change.ts"
import type { UserBudgets } from "../../../shared/usage/budget-view.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { directoryStub, tenantStub } from "../../platform/rpc/object-stubs.ts"
import { readAdministrator } from "../access/request-actor.ts"
import { type AppEnv, readBody } from "../request-body.ts"

/** `GET /v1/budgets`. */
export async function listBudgets(context: Context<AppEnv>): Promise<Response> {
  return context.json(await tenantStub(context.env, context.get("claims").tenant).listBudgets())
}

/** `PUT /v1/budgets`. */
export async function changeBudgets(context: Context<AppEnv>): Promise<Response> {
  const body = await readBody(context, budgetChangeSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const tenant = tenantStub(context.env, context.get("claims").tenant)
  const changed = await tenant.changeBudgets(readAdministrator(context), body.value)
  return changed.ok ? context.json(changed.value) : faultToResponse(changed.fault)
}

/** `GET /v1/usage/me`. */
export async function readOwnBudgets(context: Context<AppEnv>): Promise<Response> {
  const budgets = await directoryStub(context.env, context.get("claims")).readBudgets()
  return context.json({ budgets } satisfies UserBudgets)
}
