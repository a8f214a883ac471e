/**
 * logo-route.ts: serves the logo of a tenant. The route needs no token, because the logo is shown before the sign-in
 * and on shared copies. Loaded on its first request. Source: SPEC TH6.
 */

import type { Context } from "hono"
import * as v from "valibot"
import { countUp, createRateFault } from "../../limits/rate-limits.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { checkRegion } from "../../platform/media-bucket.ts"
import { tenantStub } from "../../platform/rpc/object-stubs.ts"
import { tenantIdSchema } from "../../platform/tenant-id.ts"
import { readLimitAddress } from "../access/request-actor.ts"
import type { AppEnv } from "../request-body.ts"

const LOGO_FILE = /^([0-9a-f]{32})\.png$/

/** With these headers, a browser shows the logo only as an image. Sites that show the widget may load it too. */
const LOGO_HEADERS = {
  "content-type": "image/png",
  "cache-control": "public, max-age=31536000, immutable",
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
  "cross-origin-resource-policy": "cross-origin",
}

export async function serveLogo(context: Context<AppEnv, "/media/logo/:tenant/:file">): Promise<Response> {
  const { env, req } = context
  const tenant = req.param("tenant")
  const id = LOGO_FILE.exec(req.param("file"))?.[1]
  if (id === undefined || !v.is(tenantIdSchema, tenant) || !checkRegion(env, tenant).ok)
    return faultToResponse({ reason: "route_unknown" })
  // Readers without tokens must not use up the rate limit of the tenant's users.
  const address = readLimitAddress(context)
  if (!(await countUp(env.RATE_READ, `logo ${address ?? tenant}`)))
    return faultToResponse(createRateFault("read", "user"))
  const bytes = await tenantStub(env, tenant).getLogo(id)
  return bytes === null ? faultToResponse({ reason: "route_unknown" }) : new Response(bytes, { headers: LOGO_HEADERS })
}
