/** issuer-routes.ts: the OpenID providers of a tenant, for administrators. */

import { type Context, Hono } from "hono"
import * as v from "valibot"
import { readActor } from "./access/request-actor.ts"
import { faultToResponse } from "../platform/fault-response.ts"
import { getRole } from "../platform/rpc/claims.ts"
import { tenantStub } from "../platform/rpc/object-stubs.ts"
import type { IssuerManager } from "../settings/issuer-config.ts"
import { type AppEnv, readBody } from "./request-body.ts"

export const issuerRoutes = new Hono<AppEnv>()

issuerRoutes.get("/", async (context) => {
  const issuers = await tenantStub(context.env, context.get("claims").tenant).listIssuers()
  return context.json({ issuers })
})

issuerRoutes.get("/:name", async (context) => {
  const issuers = await tenantStub(context.env, context.get("claims").tenant).listIssuers()
  const issuer = issuers.find(({ name }) => name === context.req.param("name"))
  return issuer === undefined ? faultToResponse({ reason: "issuer_unknown" }) : context.json(issuer)
})

issuerRoutes.put("/:name", async (context) => {
  const { issuerNameSchema, issuerSchema } = await import("../settings/issuer-config.ts")
  const name = v.safeParse(issuerNameSchema, context.req.param("name"))
  if (!name.success) return faultToResponse({ reason: "field_invalid", field: "name" })
  const body = await readBody(context, issuerSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const tenant = tenantStub(context.env, context.get("claims").tenant)
  const put = await tenant.putIssuer(getManager(context), name.output, body.value)
  return put.ok ? context.json(put.value) : faultToResponse(put.fault)
})

issuerRoutes.delete("/:name", async (context) => {
  const tenant = tenantStub(context.env, context.get("claims").tenant)
  const removed = await tenant.removeIssuer(getManager(context), context.req.param("name"))
  return removed.ok ? context.body(null, 204) : faultToResponse(removed.fault)
})

function getManager(context: Context<AppEnv>): IssuerManager {
  return { actor: readActor(context), isOwner: getRole(context.get("claims")) === "owner" }
}
