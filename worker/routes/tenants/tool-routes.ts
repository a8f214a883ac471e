/** tool-routes.ts: the webhook tools of a tenant, for administrators. Source: SPEC TW1. */

import * as v from "valibot"
import { isJsonObject, type Json, parseJson } from "../../../shared/json.ts"
import { checkSchema } from "../../../shared/json-schema/check-schema.ts"
import { checkServiceUrl } from "../../auth/service-url.ts"
import type { Env } from "../../env.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { tenantStub } from "../../platform/rpc/object-stubs.ts"
import {
  MAX_ARGS_SCHEMA_CHARS,
  type WebhookToolConfig,
  type WebhookToolInput,
  webhookNameSchema,
  webhookToolSchema,
} from "../../settings/webhooks/webhook-tool.ts"
import { fail, type Result, succeed } from "../../../shared/fault.ts"
import { readActor } from "../access/request-actor.ts"
import { type AppEnv, readBody } from "../request-body.ts"
import { createHono } from "../hono-app.ts"

export const toolRoutes = createHono<AppEnv>()

toolRoutes.get("/", async ({ env, get, json }) => {
  const tools = await tenantStub(env, get("claims").tenant).listWebhookTools()
  return json({ tools: tools.map(toAnswer) })
})

toolRoutes.put("/:name", async (context) => {
  const name = v.safeParse(webhookNameSchema, context.req.param("name"))
  if (!name.success) return faultToResponse({ reason: "field_invalid", field: "name" })
  const body = await readBody(context, webhookToolSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const config = toConfig(body.value, context.env)
  if (!config.ok) return faultToResponse(config.fault)
  const tenant = tenantStub(context.env, context.get("claims").tenant)
  const put = await tenant.putWebhookTool(readActor(context), name.output, config.value)
  return put.ok ? context.json(toAnswer(put.value)) : faultToResponse(put.fault)
})

toolRoutes.delete("/:name", async (context) => {
  const tenant = tenantStub(context.env, context.get("claims").tenant)
  const removed = await tenant.removeWebhookTool(readActor(context), context.req.param("name"))
  return removed.ok ? context.body(null, 204) : faultToResponse(removed.fault)
})

toolRoutes.post("/:name/secret", async (context) => {
  const tenant = tenantStub(context.env, context.get("claims").tenant)
  const rotated = await tenant.rotateWebhookSecret(readActor(context), context.req.param("name"))
  return rotated.ok ? context.json(toAnswer(rotated.value)) : faultToResponse(rotated.fault)
})

/** Returns the tool with its schema as an object. */
function toAnswer<Tool extends { readonly schema: string }>(tool: Tool) {
  return { ...tool, schema: parseJson(tool.schema) }
}

function toConfig({ schema, effects, approval, ...input }: WebhookToolInput, env: Env): Result<WebhookToolConfig> {
  const url = checkServiceUrl(input.url, env)
  if (url === null) return refuse("/url", "must be a public https address")
  const text = JSON.stringify(schema)
  if (text.length > MAX_ARGS_SCHEMA_CHARS)
    return refuse("/schema", `is longer than ${MAX_ARGS_SCHEMA_CHARS} characters`)
  const problem = checkSchema(schema as Json, "/schema")
  if (problem !== null) return refuse(problem.pointer, problem.problem)
  // Models pass arguments as an object.
  if (schema["type"] !== "object") return refuse("/schema/type", 'must be "object"')
  if (schema["properties"] !== undefined && !isJsonObject(schema["properties"]))
    return refuse("/schema/properties", "must be an object")
  const { description } = input
  return succeed({
    description: description.toWellFormed(),
    url,
    schema: text,
    effects,
    approval: approval ?? (effects === "write" ? "always" : "never"),
  })
}

function refuse(pointer: string, problem: string): Result<never> {
  return fail({ reason: "tool_refused", pointer, problem })
}
