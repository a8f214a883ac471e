/**
 * call-webhook.ts: calls a webhook tool. Sends the signed call to the tenant's service, and returns the service's
 * result.
 *
 * call → CALL WEBHOOK → POST → result, or 202 and a result later (routes/tool-result-route.ts)
 * A call that runs again after a restart sends the same id, so the service knows that it is the same call. Source: SPEC
 * TW3 to TW6.
 */

import { isJsonObject, type Json, parseJson } from "../../shared/json.ts"
import { checkValue } from "../../shared/json-schema/match-schema.ts"
import { MAX_ERROR_CHARS } from "../../shared/limits.ts"
import { cutText } from "../../shared/text/cut-text.ts"
import type { Env } from "../env.ts"
import { pause } from "../platform/pause.ts"
import { tenantStub } from "../platform/rpc/object-stubs.ts"
import { keyToPublicId } from "../platform/session-key.ts"
import { readTimeLimits } from "../platform/time-limits.ts"
import { startTimeout } from "../platform/timeout.ts"
import type { WebhookEndpoint, WebhookTool } from "../settings/webhooks/webhook-tool.ts"
import { describeProblem } from "../tool/define-tool.ts"
import { createRefusal, type ToolArgs, type ToolContext } from "../tool/tool.ts"
import type { WebhookHost } from "./create-webhook-tools.ts"
import { computeDeliveryId } from "./delivery-id.ts"
import { postSigned, type WebhookMessage, type WebhookResponse } from "./post-signed.ts"

type JsonObject = { readonly [key: string]: Json }

/** Delays before the second and the third attempt, in milliseconds. */
const RETRY_MS = [1_000, 4_000]

type Reply = { readonly kind: "later" } | { readonly kind: "result"; readonly result: JsonObject }

export async function callWebhook(
  env: Env,
  host: WebhookHost,
  tool: WebhookTool,
  args: ToolArgs,
  context: ToolContext,
): Promise<JsonObject> {
  const { row, callbacks } = host
  // The result may have arrived before a restart.
  const arrived = callbacks.read(context.call_id)
  if (arrived !== null) return parseResult(arrived)
  const schema = parseJson(tool.schema)
  const problem = isJsonObject(schema) ? checkValue(schema as JsonObject, args) : null
  if (problem !== null) return createRefusal("tool_arguments", describeProblem(problem))
  const endpoint = await tenantStub(env, row.tenant).openWebhook(tool.name, tool.asks)
  if (endpoint === null) return createRefusal("tool_failed", "The tool was removed, or its settings have changed.")
  const stop = new AbortController()
  const signal = AbortSignal.any([context.signal, stop.signal])
  // Registered before the call is sent, because the result can arrive before the response.
  const later = callbacks.waitFor(context.call_id, signal)
  later.catch(() => {})
  try {
    const reply = await sendCall(env, endpoint, await createBody(host, tool, args, context), signal)
    return reply.kind === "later" ? parseResult(await later) : reply.result
  } finally {
    stop.abort()
  }
}

async function createBody(
  { row }: WebhookHost,
  { name }: WebhookTool,
  args: ToolArgs,
  { call_id }: ToolContext,
): Promise<WebhookMessage> {
  const { tenant, user, id: key } = row
  const id = await computeDeliveryId(row, call_id)
  const path = [tenant, key, name, call_id].map(encodeURIComponent).join("/")
  const data = { call_id: id, tool: name, arguments: args, user, session: keyToPublicId(key) }
  return { id, body: JSON.stringify({ type: "tool.call", data: { ...data, result_path: `/tool-results/${path}` } }) }
}

/** Sends the call until the service has answered, at most three times. */
async function sendCall(
  env: Env,
  endpoint: WebhookEndpoint,
  call: WebhookMessage,
  signal: AbortSignal,
): Promise<Reply> {
  const { toolMs } = readTimeLimits(env)
  const timeout = startTimeout(signal, toolMs)
  try {
    for (const wait of [...RETRY_MS, null]) {
      const reply = await sendOnce(env, endpoint, call, timeout.signal)
      if (reply !== "retry") return reply
      if (wait === null) break
      await pause(Math.min(wait, toolMs / 10), timeout.signal)
    }
    return failure("The service could not be reached.")
  } catch (error) {
    // The turn was stopped, or the call's own time limit was reached.
    if (signal.aborted) throw error
    if (!timeout.hasExpired()) return failure("The service could not be reached.")
    return { kind: "result", result: createRefusal("tool_timeout", `No response within ${toolMs / 1000} s.`) }
  } finally {
    timeout.clear()
  }
}

async function sendOnce(
  env: Env,
  endpoint: WebhookEndpoint,
  call: WebhookMessage,
  signal: AbortSignal,
): Promise<Reply | "retry"> {
  const response = await postSigned(env, endpoint, call, signal)
  switch (response.kind) {
    case "retry":
      return "retry"
    case "later":
      return response
    case "refused":
      return failure(response.details)
    case "answered":
      return readReply(response)
  }
}

function readReply({ ok, status, text }: Extract<WebhookResponse, { kind: "answered" }>): Reply {
  const result = parseResult(text)
  if (ok) return { kind: "result", result }
  const words = typeof result["error"] === "string" && result["code"] === undefined ? `: ${result["error"]}` : ""
  return failure(cutText(`The service responded with status ${status}${words}`, MAX_ERROR_CHARS))
}

/**
 * Parses the data of a result. A result that isn't an object becomes the field `result` of an object. A field `error`
 * makes the call fail.
 */
export function parseResult(text: string): JsonObject {
  if (text.trim() === "") return {}
  const value = parseJson(text)
  if (value === undefined) return createRefusal("tool_failed", "The result isn't JSON, or it is nested too deeply.")
  if (!isJsonObject(value)) return { result: value }
  const { error } = value
  if (error === undefined) return value as JsonObject
  const words = typeof error === "string" ? error : JSON.stringify(error)
  return { error: "The tool failed.", details: cutText(words, MAX_ERROR_CHARS) }
}

function failure(details: string): Reply {
  return { kind: "result", result: createRefusal("tool_failed", details) }
}
