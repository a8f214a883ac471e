/** model-routes.ts: administrators list, add and remove the tenant's own models. Source: SPEC TM1 to TM3. */

import type { Context } from "hono"
import * as v from "valibot"
import { fail, type Result, succeed } from "../../../shared/fault.ts"
import { MAX_PRICES, type ModelPrice, withModelPrice } from "../../../shared/usage/price-change.ts"
import { checkServiceUrl } from "../../auth/service-url.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { findProviderName } from "../../model/provider-name.ts"
import { tenantStub } from "../../platform/rpc/object-stubs.ts"
import { type CheckedModel, modelNameSchema, modelSchema, PROVIDER_URLS } from "../../settings/model-config.ts"
import { findPriceRevision } from "../../usage/price-rows.ts"
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
  // Removes the slash that a URL object adds to a bare host.
  const { price, ...input } = body.value
  const model = { ...input, base_url: base_url.replace(/\/$/, "") }
  const put = await tenant.putModel(readActor(context), name.output, model)
  if (!put.ok) return faultToResponse(put.fault)
  const priced = price === undefined ? succeed(null) : await setModelPrice(context, model, price)
  return priced.ok ? context.json(put.value) : faultToResponse(priced.fault)
})

modelRoutes.delete("/:name", async (context) => {
  const tenant = tenantStub(context.env, context.get("claims").tenant)
  const removed = await tenant.removeModel(readActor(context), context.req.param("name"))
  return removed.ok ? context.body(null, 204) : faultToResponse(removed.fault)
})

/** Sets a model's price, effective from today. Errors: `field_invalid` if the list is full, `prices_changed`. */
async function setModelPrice(
  context: Context<AppEnv>,
  { base_url, model }: Pick<CheckedModel, "base_url" | "model">,
  price: ModelPrice,
): Promise<Result<null>> {
  const tenant = tenantStub(context.env, context.get("claims").tenant)
  const known = await tenant.listPrices()
  const provider = findProviderName(new URL(base_url).hostname)
  const from = new Date().toISOString().slice(0, 10)
  const prices = withModelPrice(known, { provider, model, from }, price)
  if (prices.length > MAX_PRICES) return fail({ reason: "field_invalid", field: "price" })
  const set = await tenant.setPrices(readActor(context), prices, findPriceRevision(known))
  return set.ok ? succeed(null) : fail(set.fault)
}
