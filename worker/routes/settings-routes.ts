/** settings.ts: what a tenant allows its transcripts beside our own: told to its pages, set by an administrator. */

import { Hono } from "hono"
import type { PageSettings } from "../../shared/protocol/asset.ts"
import { scopeOf } from "../auth/verify-token.ts"
import { settingsSchema } from "../tenant/tenant-settings.ts"
import { tenantOf } from "../tenant/tenant-object.ts"
import { type App, answerFault, readBody } from "../platform/fault-response.ts"
import { refuseRevoked, requireScope, requireToken } from "./request-guard.ts"
import { forgetSettings } from "./page-routes.ts"

export const settings = new Hono<App>()

settings.use("*", requireToken, refuseRevoked)

settings.get("/", async (context) => {
  const claims = context.get("claims")
  if (scopeOf(claims) === "external") return answerFault({ reason: "scope_denied" })
  const allowed: PageSettings = await tenantOf(context.env, claims.tenant).settings()
  return context.json(allowed)
})

settings.put("/", requireScope("admin"), async (context) => {
  const body = await readBody(context, settingsSchema)
  if (!body.ok) return answerFault(body.fault)
  const { tenant } = context.get("claims")
  const allowed: PageSettings = await tenantOf(context.env, tenant).setSettings(body.value)
  forgetSettings(tenant)
  return context.json(allowed)
})
