/**
 * agents-tool.ts: asks another agent of the tenant, and optionally waits for the answer (agent/outbound-asks.ts).
 */

import * as v from "valibot"
import { countUtf8Bytes } from "../../shared/truncate.ts"
import { MAX_MESSAGE_BYTES } from "../../shared/limits.ts"
import type { PeerAgent } from "../settings/agent-config.ts"
import { createRefusal, type Tool, type ToolContext, type ToolReturn } from "./tool.ts"

export interface AgentQuestion {
  readonly agent: string
  readonly message: string
  readonly mode: "sync" | "async"
}

export type AskAgent = (question: AgentQuestion, context: ToolContext) => Promise<ToolReturn>

const questionSchema = v.object({
  agent: v.string(),
  message: v.pipe(v.string(), v.trim(), v.minLength(1)),
  mode: v.optional(v.picklist(["sync", "async"]), "sync"),
})

/**
 * Creates the tool (SPEC AG3–AG12). A synchronous call takes as long as the other agent, at most `ms`.
 *
 * Errors: `{error, details, code}` with `tool_arguments`, `agent_unknown`, `agent_loop`, `agent_fan_out`, `agent_busy`,
 *         `agent_failed`.
 */
export function createAgentsTool(peers: readonly PeerAgent[], askAgent: AskAgent, ms: number): Tool {
  const peerDescriptions = peers.map(({ name, description }) => `${name}: ${description}`)
  return {
    name: "agents_message",
    description: [
      "Asks another agent. It does not see this conversation, so include everything that it needs to know.",
      "sync waits for the answer; async returns at once, and the answer arrives later as a separate message.",
      `The agents: ${peerDescriptions.join(" ")}`,
    ].join(" "),
    parameters: {
      type: "object",
      properties: {
        agent: { type: "string", enum: peers.map(({ name }) => name) },
        message: { type: "string" },
        mode: { type: "string", enum: ["sync", "async"] },
      },
      required: ["agent", "message"],
      additionalProperties: false,
    },
    // The question's id is derived from the call, so the other session ignores a duplicate.
    repeatable: true,
    ephemeral: false,
    ms,
    async execute(args, context) {
      const parsed = v.safeParse(questionSchema, args)
      if (!parsed.success)
        return createRefusal("tool_arguments", 'The arguments are "agent", "message" and "mode" (sync or async).')
      const { agent, message } = parsed.output
      if (peers.every(({ name }) => name !== agent)) {
        return createRefusal("agent_unknown", `The agents are ${peers.map(({ name }) => name).join(", ")}.`)
      }
      if (countUtf8Bytes(message) > MAX_MESSAGE_BYTES)
        return createRefusal("tool_arguments", "The message is too long.")
      return await askAgent(parsed.output, context)
    },
  }
}
