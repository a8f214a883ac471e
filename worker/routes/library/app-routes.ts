/**
 * app-routes.ts: `POST /:id/apps/:asset/calls`: an MCP App of a session calls a tool of the app's own server. Source:
 * SPEC MA7.
 *
 * The page sends the request on the app's behalf. A tool that needs approval requires `allowed`, which the page sends
 * when the user has allowed this call.
 */

import * as v from "valibot"
import { fail, type Result, succeed } from "../../../shared/fault.ts"
import { isJsonObject, type Json } from "../../../shared/json.ts"
import { isApp } from "../../../shared/protocol/asset.ts"
import { type Asset, idSchema } from "../../../shared/protocol/event.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { tenantStub } from "../../platform/rpc/object-stubs.ts"
import { readTimeLimits } from "../../platform/time-limits.ts"
import { startTimeout } from "../../platform/timeout.ts"
import { REMOTE_TOOL_NAME } from "../../settings/mcp-config.ts"
import { requireOwnSession, requireSession } from "../access/require-session.ts"
import { createHono } from "../hono-app.ts"
import { type AppEnv, readBody } from "../request-body.ts"

const callSchema = v.strictObject({
  tool: v.pipe(v.string(), v.regex(REMOTE_TOOL_NAME)),
  args: v.custom<{ readonly [key: string]: Json }>(isJsonObject),
  allowed: v.optional(v.boolean(), false),
})

export const appRoutes = createHono<AppEnv>()

appRoutes.post("/:id/apps/:asset/calls", requireSession, requireOwnSession, async (context) => {
  const body = await readBody(context, callSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const { env } = context
  const claims = context.get("claims")
  const id = context.req.param("asset")
  if (!v.is(idSchema, id)) return faultToResponse({ reason: "asset_unknown" })
  const found = await context.get("session").findAssets(claims, [id])
  const server = found.ok ? findAppServer(found.value[0]) : found
  if (!server.ok) return faultToResponse(server.fault)
  const { tool, args, allowed } = body.value
  const call = { user: claims.user, server: server.value, tool, asks: allowed, isFromApp: true }
  const opened = await tenantStub(env, claims.tenant).openMcpCall(call)
  if (!opened.ok) return faultToResponse(opened.fault)
  const { callToolForApp } = await import("../../mcp/mcp-client.ts")
  const timeout = startTimeout(context.req.raw.signal, readTimeLimits(env).toolMs)
  const result = await callToolForApp(env, opened.value, { tool, args }, timeout.signal).finally(timeout.clear)
  if (!result.ok) return faultToResponse({ reason: "mcp_refused", because: result.fault })
  return new Response(result.value.json, { headers: { "content-type": "application/json" } })
})

/** Returns the name of the app's MCP server, which is the app's label. Errors: `asset_unknown`. */
function findAppServer(asset: Asset | null | undefined): Result<string> {
  return asset == null || !isApp(asset) ? fail({ reason: "asset_unknown" }) : succeed(asset.label)
}
