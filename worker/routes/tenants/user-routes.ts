/** user-routes.ts: administrators list a tenant's users, change their names and roles, and suspend and restore them. */

import type { Administrator } from "../../platform/rpc/actor.ts"
import type { Context } from "hono"
import * as v from "valibot"
import { fail, type Result, succeed } from "../../../shared/fault.ts"
import { idSchema } from "../../../shared/protocol/event.ts"
import type { UserPage } from "../../../shared/protocol/http-body.ts"
import { clearCachedRole } from "../../auth/issuer/role-cache.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { tenantStub } from "../../platform/rpc/object-stubs.ts"
import type { TenantUser } from "../../settings/tenant-rpc.ts"
import { USER_PAGE_ROWS, userChangeSchema, userListSchema, userSearchSchema } from "../../settings/user-change.ts"
import { clearCachedRevocations } from "../access/authorize.ts"
import { readAdministrator } from "../access/request-actor.ts"
import { cutPage } from "../cut-page.ts"
import { type AppEnv, readBody, readQuery } from "../request-body.ts"
import { createHono } from "../hono-app.ts"

export const userRoutes = createHono<AppEnv>()

userRoutes.get("/", async (context) => {
  if (context.req.query("q") !== undefined) return await searchUsers(context)
  const query = readQuery(context, userListSchema)
  if (!query.ok) return faultToResponse(query.fault)
  const { after, prefix } = query.value
  const found = await tenantOf(context).listUsers(after, prefix, USER_PAGE_ROWS + 1)
  const { page, last } = cutPage(found, USER_PAGE_ROWS)
  return context.json({ users: page, next: last?.id ?? null } satisfies UserPage)
})

async function searchUsers(context: Context<AppEnv>): Promise<Response> {
  const query = readQuery(context, userSearchSchema)
  if (!query.ok) return faultToResponse(query.fault)
  const found = await tenantOf(context).searchUsers(query.value.q, query.value.after, USER_PAGE_ROWS)
  return found.ok ? context.json(found.value satisfies UserPage) : faultToResponse(found.fault)
}

userRoutes.get("/:id", async (context) => {
  const id = readUserId(context)
  const user = id.ok ? await tenantOf(context).findUser(id.value) : null
  return user === null ? faultToResponse({ reason: "user_unknown" }) : context.json(user)
})

userRoutes.patch("/:id", async (context) => {
  const body = await readBody(context, userChangeSchema)
  if (!body.ok) return faultToResponse(body.fault)
  return await respondToChange(context, (id, by) => tenantOf(context).changeUser(by, id, body.value))
})

userRoutes.post("/:id/suspend", (context) =>
  respondToChange(context, (id, by) => tenantOf(context).setUserStatus(by, id, "suspended")),
)

userRoutes.post("/:id/restore", (context) =>
  respondToChange(context, (id, by) => tenantOf(context).setUserStatus(by, id, "active")),
)

type ChangeUser = (id: string, by: Administrator) => Promise<Result<TenantUser>>

/** Changes the user named in the path, and makes the change effective at once in this isolate. */
async function respondToChange(context: Context<AppEnv>, change: ChangeUser): Promise<Response> {
  const claims = context.get("claims")
  const id = readUserId(context)
  if (!id.ok) return faultToResponse(id.fault)
  const changed = await change(id.value, readAdministrator(context))
  if (!changed.ok) return faultToResponse(changed.fault)
  clearCachedRevocations({ tenant: claims.tenant, user: id.value })
  clearCachedRole({ tenant: claims.tenant, user: id.value })
  return context.json(changed.value)
}

/** Checks an id before any object is called. Errors: `user_unknown` for a string that cannot be an id. */
function readUserId(context: Context<AppEnv>): Result<string> {
  const id = context.req.param("id")
  return v.is(idSchema, id) ? succeed(id) : fail({ reason: "user_unknown" })
}

function tenantOf(context: Context<AppEnv>) {
  return tenantStub(context.env, context.get("claims").tenant)
}
