/**
 * create-mcp-tools.ts: creates the tools that an agent gets from MCP servers. The code that calls them is loaded on
 * demand.
 */

import { type Json, parseJson } from "../../shared/json.ts"
import type { Env } from "../env.ts"
import type { SessionOwner } from "../platform/rpc/claims.ts"
import type { McpTool } from "../settings/mcp-config.ts"
import type { CallInputs } from "../store/callbacks/call-inputs.ts"
import type { Tool } from "../tool/tool.ts"

/** The session in which the tools are called: its user, and the store for the questions that calls ask the user. */
export interface McpHost {
  readonly row: SessionOwner
  readonly inputs: CallInputs
}

export function createMcpTools(env: Env, { row, inputs }: McpHost, tools: readonly McpTool[]): Tool[] {
  const { tenant, user } = row
  return tools.map(({ name, server, tool, description, schema, asks, reads }) => ({
    name,
    description,
    // `readOfferedTools` wrote this JSON.
    parameters: parseJson(schema) as { readonly [key: string]: Json },
    repeatable: reads,
    readsOnly: reads,
    ephemeral: false,
    ...(asks && { needsApproval: () => true }),
    async execute(args, context) {
      const { callMcpTool } = await import("./call-mcp-tool.ts")
      return await callMcpTool(env, tenant, { user, server, tool, asks }, args, context, inputs)
    },
  }))
}
