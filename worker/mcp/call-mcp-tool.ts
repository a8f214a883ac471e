/**
 * call-mcp-tool.ts: calls a tool of an MCP server, in the session. The tenant object decides whether the tool may be
 * called.
 */

import type { McpFlaw, Result } from "../../shared/fault.ts"
import { APP_MIME_TYPE } from "../../shared/asset-limits.ts"
import type { Asset } from "../../shared/protocol/event.ts"
import type { Json } from "../../shared/json.ts"
import { cutText } from "../../shared/text/cut-text.ts"
import { MAX_ERROR_CHARS } from "../../shared/limits.ts"
import type { Env } from "../env.ts"
import { readTimeLimits } from "../platform/time-limits.ts"
import { startTimeout } from "../platform/timeout.ts"
import { tenantStub } from "../platform/rpc/object-stubs.ts"
import type { McpCall, McpEndpoint } from "../settings/mcp-config.ts"
import type { CallInputs } from "../store/callbacks/call-inputs.ts"
import { createRefusal, InputNeeded, type ToolArgs, type ToolContext } from "../tool/tool.ts"
import type { InputReply } from "./elicitation/call-with-input.ts"
import type { McpResult } from "./mcp-result.ts"

type AppContext = Pick<ToolContext, "call_id" | "signal" | "card" | "saveAsset" | "attachApp">
type JsonObject = { readonly [key: string]: Json }

export async function callMcpTool(
  env: Env,
  tenant: string,
  call: McpCall,
  args: ToolArgs,
  context: AppContext,
  inputs: CallInputs,
): Promise<JsonObject | InputNeeded> {
  const { signal, card, saveAsset, attachApp } = context
  const opened = await tenantStub(env, tenant).openMcpCall(call)
  if (!opened.ok) {
    const { fault } = opened
    return fault.reason === "mcp_refused"
      ? flawToRefusal(fault.because, call)
      : createRefusal("tool_unknown", call.tool)
  }
  const result = await sendCall(env, opened.value, call, args, context, inputs)
  const isRefusedUser = !result.ok && result.fault === "unauthorized" && opened.value.isPerUser === true
  if (!result.ok) return flawToRefusal(isRefusedUser ? "not_connected" : result.fault, call)
  if (result.value instanceof InputNeeded) return result.value
  const { isError, data } = result.value
  if (isError) return createRefusal("tool_failed", cutText(String(data["text"]), MAX_ERROR_CHARS))
  // Only a call in the user's own conversation is shown as an app.
  const app = card === null ? null : await saveApp(env, call.server, opened.value, { signal, saveAsset })
  if (app !== null) attachApp(app)
  return data
}

/**
 * Sends a call. Only a server of protocol version 2026-07-28 can ask the user, and only in the user's own conversation
 * (SPEC MP35).
 */
async function sendCall(
  env: Env,
  endpoint: McpEndpoint,
  { server, tool }: McpCall,
  args: ToolArgs,
  { call_id, card, signal }: AppContext,
  inputs: CallInputs,
): Promise<Result<McpResult | InputNeeded, McpFlaw>> {
  const { callAskingTool, callServerTool } = await import("./mcp-client.ts")
  if (card === null || endpoint.discover == null) return await callServerTool(env, endpoint, { tool, args }, signal)
  const { callWithInput } = await import("./elicitation/call-with-input.ts")
  const send = (reply: InputReply) => callAskingTool(env, endpoint, { tool, args, reply }, signal)
  return await callWithInput({ inputs, call_id, server, send })
}

/**
 * Stores the tool's app. Returns null if the tool has none or the app's document can't be used. If it returns null, the
 * result is shown as text.
 */
async function saveApp(
  env: Env,
  server: string,
  endpoint: McpEndpoint,
  { signal, saveAsset }: Pick<ToolContext, "signal" | "saveAsset">,
): Promise<Asset | null> {
  const { app: uri } = endpoint
  if (uri === undefined) return null
  const { readServerResource } = await import("./mcp-client.ts")
  const { encodeApp, readAppResource } = await import("./app-document.ts")
  // A slow app must not use up the time of a call that already has its result.
  const timeout = startTimeout(signal, readTimeLimits(env).providerMs)
  const answer = await readServerResource(env, endpoint, uri, timeout.signal).finally(timeout.clear)
  const app = answer.ok ? readAppResource(answer.value, server, uri) : null
  if (app === null) return null
  const stored = await saveAsset(encodeApp(app), { kind: "canvas", label: server, mime_type: APP_MIME_TYPE })
  return stored.ok ? stored.value : null
}

function flawToRefusal(flaw: McpFlaw, { server }: McpCall): JsonObject {
  if (flaw === "not_connected") {
    const advice = `The user is not connected to ${server}. The page shows a button to connect. Ask the user to use it.`
    return createRefusal("tool_not_connected", advice)
  }
  return createRefusal(flaw === "timeout" ? "tool_timeout" : "tool_failed", `MCP server: ${flaw}`)
}
