/** agent-routes.ts: lists a tenant's agents, and lets an administrator configure them. */

import * as v from "valibot"
import { isConfigurer } from "./access/access-table.ts"
import { faultToResponse } from "../platform/fault-response.ts"
import { tenantStub } from "../platform/rpc/object-stubs.ts"
import { readActor } from "./access/request-actor.ts"
import { agentNameSchema, agentSchema } from "../settings/agent-config.ts"
import { BUILT_IN_TOOL_NAMES } from "../tool/built-in-tools.ts"
import { type AppEnv, readBody } from "./request-body.ts"
import { createHono } from "./hono-app.ts"

export const agentRoutes = createHono<AppEnv>()

/** Users see names and descriptions. Only callers who may configure agents see the rest, and the names of all tools that an agent can have. */
agentRoutes.get("/", async (context) => {
  const claims = context.get("claims")
  const tenant = tenantStub(context.env, claims.tenant)
  const agents = await tenant.listAgents()
  if (isConfigurer(claims)) {
    const webhookTools = await tenant.listWebhookTools()
    return context.json({ agents, tools: [...BUILT_IN_TOOL_NAMES, ...webhookTools.map(({ name }) => name)] })
  }
  return context.json({ agents: agents.map(({ name, description }) => ({ name, description })) })
})

agentRoutes.put("/:name", async (context) => {
  const name = v.safeParse(agentNameSchema, context.req.param("name"))
  if (!name.success) return faultToResponse({ reason: "field_invalid", field: "name" })
  const body = await readBody(context, agentSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const agent = { name: name.output, ...body.value }
  const put = await tenantStub(context.env, context.get("claims").tenant).putAgent(readActor(context), agent)
  return put.ok ? context.json(agent) : faultToResponse(put.fault)
})

agentRoutes.delete("/:name", async (context) => {
  const tenant = tenantStub(context.env, context.get("claims").tenant)
  const removed = await tenant.removeAgent(readActor(context), context.req.param("name"))
  return removed.ok ? context.body(null, 204) : faultToResponse(removed.fault)
})
