/** model-routes.ts: administrators list, add and remove the tenant's own models. Source: SPEC TM1 to TM3. */

import * as v from "valibot"
import { checkServiceUrl } from "../../auth/service-url.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { tenantStub } from "../../platform/rpc/object-stubs.ts"
import { modelNameSchema, modelSchema, PROVIDER_URLS } from "../../settings/model-config.ts"
import { readActor } from "../access/request-actor.ts"
import { type AppEnv, readBody } from "../request-body.ts"
import { createHono } from "../hono-app.ts"

export const modelRoutes = createHono<AppEnv>()

modelRoutes.get("/", async (context) => {
  const models = await tenantStub(context.env, context.get("claims").tenant).listModels()
  return context.json({ models })
})

modelRoutes.put("/:name", async (context) => {
  const name = v.safeParse(modelNameSchema, context.req.param("name"))
  if (!name.success) return faultToResponse({ reason: "field_invalid", field: "name" })
  const body = await readBody(context, modelSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const address = body.value.base_url ?? PROVIDER_URLS[body.value.provider] ?? ""
  const base_url = checkServiceUrl(address, context.env)
  if (base_url === null) return faultToResponse({ reason: "field_invalid", field: "base_url" })
  const tenant = tenantStub(context.env, context.get("claims").tenant)
  // Without the slash that a URL object adds to a bare host.
  const model = { ...body.value, base_url: base_url.replace(/\/$/, "") }
  const put = await tenant.putModel(readActor(context), name.output, model)
  return put.ok ? context.json(put.value) : faultToResponse(put.fault)
})

modelRoutes.delete("/:name", async (context) => {
  const tenant = tenantStub(context.env, context.get("claims").tenant)
  const removed = await tenant.removeModel(readActor(context), context.req.param("name"))
  return removed.ok ? context.body(null, 204) : faultToResponse(removed.fault)
})
