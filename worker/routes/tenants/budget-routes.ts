/** budget-routes.ts: the budgets of a tenant, its roles and its users, and the calling user's remaining budgets. */

import type { Context } from "hono"
import { budgetChangeSchema } from "../../../shared/usage/budget-change.ts"
import type { UserBudgets } from "../../../shared/usage/budget-view.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { directoryStub, tenantStub } from "../../platform/rpc/object-stubs.ts"
import { readAdministrator } from "../access/request-actor.ts"
import { type AppEnv, readBody } from "../request-body.ts"

/** Maximum number of users who are notified of a change. Users whom the change names come first. */
const MAX_NOTIFIED_USERS = 100

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
  if (!changed.ok) return faultToResponse(changed.fault)
  const listed = await tenant.listUsers("", "", MAX_NOTIFIED_USERS)
  const named = Object.keys(body.value.users ?? {}).slice(0, MAX_NOTIFIED_USERS)
  await notifyUsers(context, [...named, ...listed.map(({ id }) => id)])
  return context.json(changed.value)
}

/** `GET /v1/usage/me`. */
export async function readOwnBudgets(context: Context<AppEnv>): Promise<Response> {
  const budgets = await directoryStub(context.env, context.get("claims")).readBudgets()
  return context.json({ budgets } satisfies UserBudgets)
}

/**
 * Makes a change effective at once for some users. For all others, and for users whose call failed, it takes effect
 * with their next usage report.
 */
async function notifyUsers(context: Context<AppEnv>, users: readonly string[]): Promise<void> {
  const { tenant } = context.get("claims")
  const notified = [...new Set(users)].slice(0, MAX_NOTIFIED_USERS)
  await Promise.allSettled(notified.map((user) => directoryStub(context.env, { tenant, user }).refreshBudget()))
}
