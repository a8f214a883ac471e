/**
 * card-view-route.ts: serves the template of one version of a card. The route needs no token, because readers of shared
 * copies have none; the URL contains a hash that can't be guessed. Loaded on its first request. Source: SPEC CV9.
 */

import type { Context } from "hono"
import * as v from "valibot"
import { parseViewReference } from "../../../shared/protocol/cards/card-view-url.ts"
import { countUp, createRateFault } from "../../limits/rate-limits.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { checkRegion } from "../../platform/media-bucket.ts"
import { tenantStub } from "../../platform/rpc/object-stubs.ts"
import { tenantIdSchema } from "../../platform/tenant-id.ts"
import { readLimitAddress } from "../access/request-actor.ts"
import type { AppEnv } from "../request-body.ts"

/** A version of a template never changes. Sites that show the widget load it too, without credentials. */
const VIEW_HEADERS = {
  "content-type": "application/json",
  "cache-control": "public, max-age=31536000, immutable",
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
  "cross-origin-resource-policy": "cross-origin",
  "access-control-allow-origin": "*",
}

export async function serveCardView(context: Context<AppEnv, "/media/card/:tenant/:file">): Promise<Response> {
  const { env, req } = context
  const tenant = req.param("tenant")
  const reference = parseViewReference(/^(.*)\.json$/.exec(req.param("file"))?.[1] ?? "")
  if (reference === null || !v.is(tenantIdSchema, tenant) || !checkRegion(env, tenant).ok)
    return faultToResponse({ reason: "route_unknown" })
  // Readers without tokens must not use up the rate limit of the tenant's users.
  const address = readLimitAddress(context)
  if (!(await countUp(env.RATE_READ, `card ${address ?? tenant}`)))
    return faultToResponse(createRateFault("read", "user"))
  const view = await tenantStub(env, tenant).getCardView(reference.name, reference.revision)
  return view === null ? faultToResponse({ reason: "route_unknown" }) : new Response(view, { headers: VIEW_HEADERS })
}
