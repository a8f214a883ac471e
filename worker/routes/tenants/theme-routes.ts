/**
 * theme-routes.ts: a tenant's theme and its logo. Everyone in the tenant can read them, and administrators change them.
 * Source: SPEC TH1 to TH6.
 */

import type { Context } from "hono"
import type { Result } from "../../../shared/fault.ts"
import { MAX_LOGO_BYTES, parseLogo } from "../../../shared/theme/png-logo.ts"
import type { ThemeView } from "../../../shared/theme/page-theme.ts"
import { findLowContrast } from "../../../shared/theme/theme-contrast.ts"
import { themeSchema } from "../../../shared/theme/theme-schema.ts"
import { computeShortHash } from "../../platform/crypto/sha256-hex.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { tenantStub } from "../../platform/rpc/object-stubs.ts"
import { readActor } from "../access/request-actor.ts"
import { clearCachedSettings } from "../page-routes.ts"
import { type AppEnv, readBody, readBytes } from "../request-body.ts"
import { createHono } from "../hono-app.ts"

export const themeRoutes = createHono<AppEnv>()

themeRoutes.get("/", async (context) => {
  const { tenant } = context.get("claims")
  return context.json(await tenantStub(context.env, tenant).getTheme())
})

themeRoutes.put("/", async (context) => {
  const body = await readBody(context, themeSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const low = findLowContrast(body.value)
  if (low !== null) return faultToResponse({ reason: "theme_unreadable", ...low })
  const { tenant } = context.get("claims")
  return respond(context, await tenantStub(context.env, tenant).setTheme(readActor(context), body.value))
})

themeRoutes.delete("/", async (context) => {
  const { tenant } = context.get("claims")
  return respond(context, await tenantStub(context.env, tenant).setTheme(readActor(context), null))
})

themeRoutes.put("/logo", async (context) => {
  const type = context.req.header("content-type")?.toLowerCase()
  if (type !== "image/png") return faultToResponse({ reason: "logo_refused", because: "type" })
  const file = await readBytes(context, MAX_LOGO_BYTES)
  if (!file.ok) return faultToResponse(file.fault)
  const parsed = parseLogo(file.value)
  if (!parsed.ok) return faultToResponse(parsed.fault)
  const bytes = parsed.value.buffer
  const { tenant } = context.get("claims")
  const logo = { id: await computeShortHash(bytes), bytes }
  return respond(context, await tenantStub(context.env, tenant).setLogo(readActor(context), logo))
})

themeRoutes.delete("/logo", async (context) => {
  const { tenant } = context.get("claims")
  return respond(context, await tenantStub(context.env, tenant).setLogo(readActor(context), null))
})

function respond(context: Context<AppEnv>, changed: Result<ThemeView>): Response {
  clearCachedSettings(context.get("claims").tenant)
  return changed.ok ? context.json(changed.value) : faultToResponse(changed.fault)
}
