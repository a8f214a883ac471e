/** agents.ts: a tenant's agents: who there is, and, for an administrator, what they are. */

import { Hono } from "hono"
import * as v from "valibot"
import { agentNameSchema, agentSchema } from "../tenant/agent-config.ts"
import { getScope } from "../auth/verify-token.ts"
import { getTenantStub } from "../tenant/tenant-object.ts"
import { type AppEnv, faultToResponse, readBody } from "../platform/fault-response.ts"
import { refuseRevoked, requireScope, requireToken } from "./request-guard.ts"

export const agentRoutes = new Hono<AppEnv>()

agentRoutes.use("*", requireToken, refuseRevoked)

/** A user learns whom there is to talk to; what they are told is the tenant's own. */
agentRoutes.get("/", async (context) => {
  const claims = context.get("claims")
  if (getScope(claims) === "external") return faultToResponse({ reason: "scope_denied" })
  const all = await getTenantStub(context.env, claims.tenant).listAgents()
  const shown = getScope(claims) === "admin" ? all : all.map(({ name, description }) => ({ name, description }))
  return context.json({ agents: shown })
})

agentRoutes.put("/:name", requireScope("admin"), async (context) => {
  const name = v.safeParse(agentNameSchema, context.req.param("name"))
  if (!name.success) return faultToResponse({ reason: "field_invalid", field: "name" })
  const body = await readBody(context, agentSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const agent = { name: name.output, ...body.value }
  const put = await getTenantStub(context.env, context.get("claims").tenant).putAgent(agent)
  return put.ok ? context.json(agent) : faultToResponse(put.fault)
})

agentRoutes.delete("/:name", requireScope("admin"), async (context) => {
  const removed = await getTenantStub(context.env, context.get("claims").tenant).removeAgent(context.req.param("name"))
  return removed.ok ? context.body(null, 204) : faultToResponse(removed.fault)
})
