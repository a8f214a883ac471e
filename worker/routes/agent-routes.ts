/** agent-routes.ts: lists a tenant's agents, and lets an administrator configure them. */

import { Hono } from "hono"
import * as v from "valibot"
import { getScope } from "../platform/rpc/claims.ts"
import { faultToResponse } from "../platform/fault-response.ts"
import { tenantStub } from "../platform/rpc/object-stubs.ts"
import { agentNameSchema, agentSchema } from "../tenant/agent-config.ts"
import { type AppEnv, readBody } from "./request-body.ts"
import { refuseRevoked, requireScope, requireToken } from "./request-guard.ts"

export const agentRoutes = new Hono<AppEnv>()

agentRoutes.use("*", requireToken, refuseRevoked)

/** Users see names and descriptions. Prompts, models and tools are for administrators only. */
agentRoutes.get("/", async (context) => {
  const claims = context.get("claims")
  if (getScope(claims) === "external") return faultToResponse({ reason: "scope_denied" })
  const agents = await tenantStub(context.env, claims.tenant).listAgents()
  const visible = getScope(claims) === "admin" ? agents : agents.map(({ name, description }) => ({ name, description }))
  return context.json({ agents: visible })
})

agentRoutes.put("/:name", requireScope("admin"), async (context) => {
  const name = v.safeParse(agentNameSchema, context.req.param("name"))
  if (!name.success) return faultToResponse({ reason: "field_invalid", field: "name" })
  const body = await readBody(context, agentSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const agent = { name: name.output, ...body.value }
  const put = await tenantStub(context.env, context.get("claims").tenant).putAgent(agent)
  return put.ok ? context.json(agent) : faultToResponse(put.fault)
})

agentRoutes.delete("/:name", requireScope("admin"), async (context) => {
  const removed = await tenantStub(context.env, context.get("claims").tenant).removeAgent(context.req.param("name"))
  return removed.ok ? context.body(null, 204) : faultToResponse(removed.fault)
})
