/** issuer-routes.ts: the OpenID providers of a tenant, for administrators. */

import * as v from "valibot"
import type { Result } from "../../../shared/fault.ts"
import type { Env } from "../../env.ts"
import type { Administrator } from "../../platform/rpc/actor.ts"
import { readAdministrator } from "../access/request-actor.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { tenantStub } from "../../platform/rpc/object-stubs.ts"
import type { IssuerView } from "../../settings/issuer-config.ts"
import { type AppEnv, readBody } from "../request-body.ts"
import { createHono } from "../hono-app.ts"

export const issuerRoutes = createHono<AppEnv>()

issuerRoutes.get("/", async (context) => {
  const issuers = await tenantStub(context.env, context.get("claims").tenant).listIssuers()
  return context.json({ issuers })
})

issuerRoutes.get("/:name", async (context) => {
  const issuer = await findIssuer(context.env, context.get("claims").tenant, context.req.param("name"))
  return issuer === undefined ? faultToResponse({ reason: "issuer_unknown" }) : context.json(issuer)
})

issuerRoutes.put("/:name", async (context) => {
  const { issuerNameSchema, issuerSchema } = await import("../../settings/issuer-config.ts")
  const name = v.safeParse(issuerNameSchema, context.req.param("name"))
  if (!name.success) return faultToResponse({ reason: "field_invalid", field: "name" })
  const body = await readBody(context, issuerSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const tenant = tenantStub(context.env, context.get("claims").tenant)
  const before = await findIssuer(context.env, context.get("claims").tenant, name.output)
  const put = await tenant.putIssuer(readAdministrator(context), name.output, body.value)
  await clearCached(before, put.ok ? put.value : undefined)
  return put.ok ? context.json(put.value) : faultToResponse(put.fault)
})

issuerRoutes.delete("/:name", async (context) => {
  const { tenant } = context.get("claims")
  const removed = await removeIssuer(context.env, tenant, readAdministrator(context), context.req.param("name"))
  return removed.ok ? context.body(null, 204) : faultToResponse(removed.fault)
})

/** Removes an issuer of a tenant, and releases its claim. Errors: those of `TenantRpc.removeIssuer`. */
export async function removeIssuer(
  env: Env,
  tenant: string,
  manager: Administrator,
  name: string,
): Promise<Result<null>> {
  const before = await findIssuer(env, tenant, name)
  const removed = await tenantStub(env, tenant).removeIssuer(manager, name)
  await clearCached(before)
  return removed
}

async function findIssuer(env: Env, tenant: string, name: string): Promise<IssuerView | undefined> {
  const issuers = await tenantStub(env, tenant).listIssuers()
  return issuers.find((issuer) => issuer.name === name)
}

/** Makes changes to these issuers effective at once in this isolate. */
async function clearCached(...issuers: (Pick<IssuerView, "issuer" | "audience"> | undefined)[]): Promise<void> {
  const { clearCachedIssuer } = await import("../../auth/issuer/foreign-token.ts")
  for (const changed of issuers) if (changed !== undefined) clearCachedIssuer(changed.issuer, changed.audience)
}
