/**
 * settings-routes.ts: a tenant's settings for its pages, such as allowed origins and media hosts. The pages read them,
 * and an administrator sets them.
 */

import type { PageSettings } from "../../shared/protocol/http-body.ts"
import { faultToResponse } from "../platform/fault-response.ts"
import { tenantStub } from "../platform/rpc/object-stubs.ts"
import { clearCachedConfig } from "../settings/config-cache.ts"
import { createSettingsSchema } from "../settings/settings-schema.ts"
import { allowsLoopback } from "./access/embed-access.ts"
import { clearCachedSettings } from "./page-routes.ts"
import { readActor } from "./access/request-actor.ts"
import { type AppEnv, readBody } from "./request-body.ts"
import { createHono } from "./hono-app.ts"

export const settingsRoutes = createHono<AppEnv>()

settingsRoutes.get("/", async (context) => {
  const { tenant } = context.get("claims")
  return context.json(await tenantStub(context.env, tenant).getPageSettings())
})

settingsRoutes.put("/", async (context) => {
  const body = await readBody(context, createSettingsSchema(allowsLoopback(context.env)))
  if (!body.ok) return faultToResponse(body.fault)
  const { tenant } = context.get("claims")
  const settings: PageSettings = await tenantStub(context.env, tenant).setSettings(readActor(context), body.value)
  clearCachedSettings(tenant)
  clearCachedConfig(tenant)
  return context.json(settings)
})
