/** agents.ts: a tenant's agents: who there is, and, for an administrator, what they are. */

import { Hono } from "hono"
import * as v from "valibot"
import { agentNameSchema, agentSchema } from "../tenant/agent-config.ts"
import { scopeOf } from "../auth/verify-token.ts"
import { tenantOf } from "../tenant/tenant-object.ts"
import { type App, answerFault, readBody } from "../platform/fault-response.ts"
import { refuseRevoked, requireScope, requireToken } from "./request-guard.ts"

export const agents = new Hono<App>()

agents.use("*", requireToken, refuseRevoked)

/** A user learns whom there is to talk to; what they are told is the tenant's own. */
agents.get("/", async (context) => {
  const claims = context.get("claims")
  if (scopeOf(claims) === "external") return answerFault({ reason: "scope_denied" })
  const all = await tenantOf(context.env, claims.tenant).agents()
  const shown = scopeOf(claims) === "admin" ? all : all.map(({ name, description }) => ({ name, description }))
  return context.json({ agents: shown })
})

agents.put("/:name", requireScope("admin"), async (context) => {
  const name = v.safeParse(agentNameSchema, context.req.param("name"))
  if (!name.success) return answerFault({ reason: "field_invalid", field: "name" })
  const body = await readBody(context, agentSchema)
  if (!body.ok) return answerFault(body.fault)
  const agent = { name: name.output, ...body.value }
  const put = await tenantOf(context.env, context.get("claims").tenant).put(agent)
  return put.ok ? context.json(agent) : answerFault(put.fault)
})

agents.delete("/:name", requireScope("admin"), async (context) => {
  const removed = await tenantOf(context.env, context.get("claims").tenant).remove(context.req.param("name"))
  return removed.ok ? context.body(null, 204) : answerFault(removed.fault)
})
