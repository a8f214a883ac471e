/** mcp-routes.ts: the MCP servers of a tenant, for administrators. Source: SPEC MP1. */

import * as v from "valibot"
import { faultToResponse } from "../../platform/fault-response.ts"
import { tenantStub } from "../../platform/rpc/object-stubs.ts"
import { mcpNameSchema } from "../../settings/agent-config.ts"
import { mcpServerSchema } from "../../settings/mcp-config.ts"
import { readActor } from "../access/request-actor.ts"
import { type AppEnv, readBody } from "../request-body.ts"
import { createHono } from "../hono-app.ts"

const reviewSchema = v.strictObject({ revision: v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/)) })

export const mcpRoutes = createHono<AppEnv>()

mcpRoutes.get("/", async (context) => {
  const servers = await tenantStub(context.env, context.get("claims").tenant).listMcpServers()
  return context.json({ servers })
})

mcpRoutes.get("/:name", async (context) => {
  const servers = await tenantStub(context.env, context.get("claims").tenant).listMcpServers()
  const server = servers.find(({ name }) => name === context.req.param("name"))
  return server === undefined ? faultToResponse({ reason: "mcp_server_unknown" }) : context.json(server)
})

mcpRoutes.put("/:name", async (context) => {
  const name = v.safeParse(mcpNameSchema, context.req.param("name"))
  if (!name.success) return faultToResponse({ reason: "field_invalid", field: "name" })
  const body = await readBody(context, mcpServerSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const tenant = tenantStub(context.env, context.get("claims").tenant)
  const put = await tenant.putMcpServer(readActor(context), name.output, body.value)
  return put.ok ? context.json(put.value) : faultToResponse(put.fault)
})

mcpRoutes.delete("/:name", async (context) => {
  const tenant = tenantStub(context.env, context.get("claims").tenant)
  const removed = await tenant.removeMcpServer(readActor(context), context.req.param("name"))
  return removed.ok ? context.body(null, 204) : faultToResponse(removed.fault)
})

mcpRoutes.post("/:name/refresh", async (context) => {
  const { tenant, user } = context.get("claims")
  const refreshed = await tenantStub(context.env, tenant).refreshMcpServer(context.req.param("name"), user)
  return refreshed.ok ? context.json(refreshed.value) : faultToResponse(refreshed.fault)
})

mcpRoutes.post("/:name/review", async (context) => {
  const body = await readBody(context, reviewSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const tenant = tenantStub(context.env, context.get("claims").tenant)
  const reviewed = await tenant.reviewMcpServer(readActor(context), context.req.param("name"), body.value.revision)
  return reviewed.ok ? context.json(reviewed.value) : faultToResponse(reviewed.fault)
})
