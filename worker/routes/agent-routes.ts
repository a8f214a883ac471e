/** agent-routes.ts: lists a tenant's agents, and lets an administrator configure them. */

import * as v from "valibot"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import { checkServiceUrl } from "../auth/service-url.ts"
import type { Env } from "../env.ts"
import { isAdministrator, isConfigurer } from "./access/access-table.ts"
import { faultToResponse } from "../platform/fault-response.ts"
import { tenantStub } from "../platform/rpc/object-stubs.ts"
import { readActor } from "./access/request-actor.ts"
import { agentNameSchema, agentSchema, type AgentInput } from "../settings/agent-config.ts"
import { BUILT_IN_TOOL_NAMES } from "../tool/built-in-tools.ts"
import { type AppEnv, readBody } from "./request-body.ts"
import { createHono } from "./hono-app.ts"

export const agentRoutes = createHono<AppEnv>()

/**
 * Users see each agent's name, description and effort. Only callers who may configure agents see the rest, and the
 * names of all tools that an agent can have.
 */
agentRoutes.get("/", async (context) => {
  const claims = context.get("claims")
  const tenant = tenantStub(context.env, claims.tenant)
  const agents = await tenant.listAgents()
  if (isConfigurer(claims)) {
    const webhookTools = await tenant.listWebhookTools()
    return context.json({ agents, tools: [...BUILT_IN_TOOL_NAMES, ...webhookTools.map(({ name }) => name)] })
  }
  return context.json({ agents: agents.map(({ name, description, effort }) => ({ name, description, effort })) })
})

agentRoutes.put("/:name", async (context) => {
  const name = v.safeParse(agentNameSchema, context.req.param("name"))
  if (!name.success) return faultToResponse({ reason: "field_invalid", field: "name" })
  const body = await readBody(context, agentSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const url = checkAgentUrl(body.value, context.env)
  if (!url.ok) return faultToResponse(url.fault)
  // Tokens from before roles existed can't register services that receive users' messages.
  if (url.value.url !== undefined && !isAdministrator(context.get("claims")))
    return faultToResponse({ reason: "scope_denied" })
  const agent = { name: name.output, ...body.value, ...url.value }
  const tenant = tenantStub(context.env, context.get("claims").tenant)
  const put = await tenant.putAgent(readActor(context), agent)
  if (!put.ok) return faultToResponse(put.fault)
  const secret = agent.answered_by === "webhook" ? await tenant.keepAgentSecret(agent.name) : null
  return context.json({ ...agent, ...(secret !== null && { secret }) })
})

agentRoutes.post("/:name/secret", async (context) => {
  const tenant = tenantStub(context.env, context.get("claims").tenant)
  const rotated = await tenant.rotateAgentSecret(readActor(context), context.req.param("name"))
  return rotated.ok ? context.json(rotated.value) : faultToResponse(rotated.fault)
})

agentRoutes.delete("/:name", async (context) => {
  const tenant = tenantStub(context.env, context.get("claims").tenant)
  const removed = await tenant.removeAgent(readActor(context), context.req.param("name"))
  return removed.ok ? context.body(null, 204) : faultToResponse(removed.fault)
})

/**
 * Checks the URL of the service that writes an agent's answers. Only agents whose questions a webhook answers have a
 * URL.
 */
function checkAgentUrl({ answered_by, url }: AgentInput, env: Env): Result<{ readonly url?: string }> {
  const isWebhook = answered_by === "webhook"
  if (!isWebhook && url === undefined) return succeed({})
  const checked = isWebhook && url !== undefined ? checkServiceUrl(url, env) : null
  return checked === null ? fail({ reason: "field_invalid", field: "url" }) : succeed({ url: checked })
}
