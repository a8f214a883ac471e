/**
 * token-key-routes.ts: lists and rotates the keys that sign a tenant's tokens. The keys themselves never leave the
 * Worker.
 */

import * as v from "valibot"
import { MAX_EXTERNAL_TOKEN_SECONDS } from "../../../shared/limits.ts"
import { clearCachedAccess } from "../../auth/tenant-access-cache.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { tenantStub } from "../../platform/rpc/object-stubs.ts"
import { readActor } from "../access/request-actor.ts"
import { type AppEnv, readBody } from "../request-body.ts"
import { createHono } from "../hono-app.ts"

/**
 * By default, older keys are accepted until every token that they signed has expired. With 0, they are rejected at
 * once.
 */
const rotationSchema = v.strictObject({
  retire_seconds: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_EXTERNAL_TOKEN_SECONDS)),
    MAX_EXTERNAL_TOKEN_SECONDS,
  ),
})

export const tokenKeyRoutes = createHono<AppEnv>()

tokenKeyRoutes.get("/", async (context) => {
  const keys = await tenantStub(context.env, context.get("claims").tenant).listTokenKeys()
  return context.json({ keys })
})

tokenKeyRoutes.post("/rotate", async (context) => {
  const body = await readBody(context, rotationSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const { tenant } = context.get("claims")
  const retireMs = body.value.retire_seconds * 1000
  const rotated = await tenantStub(context.env, tenant).rotateTokenKeys(readActor(context), retireMs)
  clearCachedAccess(tenant)
  return rotated.ok ? context.json({ keys: rotated.value }) : faultToResponse(rotated.fault)
})
