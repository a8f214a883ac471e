/** connection-routes.ts: a user's connections to the tenant's MCP servers. Source: SPEC MP11. */

import type { McpConnectionList, McpConnectionStart } from "../../../shared/protocol/http-body.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { tenantStub } from "../../platform/rpc/object-stubs.ts"
import { createHono } from "../hono-app.ts"
import type { AppEnv } from "../request-body.ts"

export const connectionRoutes = createHono<AppEnv>()

connectionRoutes.get("/", async (context) => {
  const { tenant, user } = context.get("claims")
  const connections = await tenantStub(context.env, tenant).listMcpConnections(user)
  return context.json({ connections: [...connections] } satisfies McpConnectionList)
})

connectionRoutes.post("/:server", async (context) => {
  const { startConnection } = await import("../../signin/mcp-connection.ts")
  const { req } = context
  const { origin } = new URL(req.url)
  // On a page of another site, the browser would not store the cookie, so the connection could not be completed after
  // the user's consent.
  if ((req.header("origin") ?? origin) !== origin) return faultToResponse({ reason: "origin_denied" })
  const request = { server: req.param("server"), origin, cookie: req.header("cookie") ?? null }
  const started = await startConnection(context.env, context.get("claims"), request)
  if (!started.ok) return faultToResponse(started.fault)
  const { url, cookies } = started.value
  for (const cookie of cookies) context.header("set-cookie", cookie, { append: true })
  return context.json({ url } satisfies McpConnectionStart)
})

connectionRoutes.delete("/:server", async (context) => {
  const { tenant, user } = context.get("claims")
  const removed = await tenantStub(context.env, tenant).removeMcpConnection(user, context.req.param("server"))
  return removed.ok ? context.body(null, 204) : faultToResponse(removed.fault)
})
