/** call-mcp-tool.ts: calls a tool of an MCP server, in the session. The tenant object decides whether it may be called. */

import type { McpFlaw } from "../../shared/fault.ts"
import type { Json } from "../../shared/json.ts"
import { cutText } from "../../shared/text/cut-text.ts"
import { MAX_ERROR_CHARS } from "../../shared/limits.ts"
import type { Env } from "../env.ts"
import { tenantStub } from "../platform/rpc/object-stubs.ts"
import type { McpCall } from "../settings/mcp-config.ts"
import { createRefusal, type ToolArgs } from "../tool/tool.ts"

type JsonObject = { readonly [key: string]: Json }

export async function callMcpTool(
  env: Env,
  tenant: string,
  call: McpCall,
  args: ToolArgs,
  signal: AbortSignal,
): Promise<JsonObject> {
  const opened = await tenantStub(env, tenant).openMcpCall(call)
  if (!opened.ok) {
    const { fault } = opened
    return fault.reason === "mcp_refused" ? flawToRefusal(fault.because) : createRefusal("tool_unknown", call.tool)
  }
  const { callServerTool } = await import("./mcp-client.ts")
  const result = await callServerTool(env, opened.value, { tool: call.tool, args }, signal)
  if (!result.ok) return flawToRefusal(result.fault)
  const { isError, data } = result.value
  return isError ? createRefusal("tool_failed", cutText(String(data["text"]), MAX_ERROR_CHARS)) : data
}

function flawToRefusal(flaw: McpFlaw): JsonObject {
  return createRefusal(flaw === "timeout" ? "tool_timeout" : "tool_failed", `MCP server: ${flaw}`)
}
