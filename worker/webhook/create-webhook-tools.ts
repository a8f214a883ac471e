/**
 * create-webhook-tools.ts: creates the webhook tools of an agent. The code that calls them is loaded on the first call.
 */

import { parseJson } from "../../shared/json.ts"
import type { Env } from "../env.ts"
import { readTimeLimits } from "../platform/time-limits.ts"
import type { WebhookTool } from "../settings/webhooks/webhook-tool.ts"
import type { ToolCallbacks } from "../store/callbacks/tool-callbacks.ts"
import type { SessionRow } from "../store/row-codec.ts"
import type { Tool } from "../tool/tool.ts"

/** The owner of the calls, and the URL to which late results are sent. */
export interface WebhookHost {
  readonly row: Pick<SessionRow, "tenant" | "user" | "id" | "created">
  readonly callbacks: ToolCallbacks
}

export function createWebhookTools(env: Env, host: WebhookHost, tools: readonly WebhookTool[]): Tool[] {
  return tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    // The route checked the schema.
    parameters: parseJson(tool.schema) as Tool["parameters"],
    // The service recognises a repeated call by its id (SPEC TW3). A call is stored before it runs, even one that only
    // reads, because a result that arrives later needs the stored call.
    repeatable: true,
    readsOnly: false,
    ephemeral: false,
    ms: readTimeLimits(env).agentAnswerMs,
    ...(tool.asks && { needsApproval: () => true }),
    async execute(args, context) {
      const { callWebhook } = await import("./call-webhook.ts")
      return await callWebhook(env, host, tool, args, context)
    },
  }))
}
