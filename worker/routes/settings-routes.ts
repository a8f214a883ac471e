/** settings.ts: what a tenant allows its transcripts beside our own: told to its pages, set by an administrator. */

import { Hono } from "hono"
import type { PageSettings } from "../../shared/protocol/http-body.ts"
import { getScope } from "../auth/verify-token.ts"
import { tenantSettingsSchema } from "../tenant/tenant-settings.ts"
import { getTenantStub } from "../tenant/tenant-object.ts"
import { type AppEnv, faultToResponse, readBody } from "../platform/fault-response.ts"
import { refuseRevoked, requireScope, requireToken } from "./request-guard.ts"
import { clearCachedSettings } from "./page-routes.ts"

export const settingsRoutes = new Hono<AppEnv>()

settingsRoutes.use("*", requireToken, refuseRevoked)

settingsRoutes.get("/", async (context) => {
  const claims = context.get("claims")
  if (getScope(claims) === "external") return faultToResponse({ reason: "scope_denied" })
  const allowed: PageSettings = await getTenantStub(context.env, claims.tenant).getSettings()
  return context.json(allowed)
})

settingsRoutes.put("/", requireScope("admin"), async (context) => {
  const body = await readBody(context, tenantSettingsSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const { tenant } = context.get("claims")
  const allowed: PageSettings = await getTenantStub(context.env, tenant).setSettings(body.value)
  clearCachedSettings(tenant)
  return context.json(allowed)
})
