/**
 * agents-tool.ts: asks another agent of the tenant, and optionally waits for the answer (agent/outbound-asks.ts).
 */

import { MAX_MESSAGE_BYTES } from "../../shared/limits.ts"
import { countUtf8Bytes } from "../../shared/truncate.ts"
import type { PeerAgent } from "../settings/agent-config.ts"
import { defineTool, type UnnamedTool } from "./define-tool.ts"
import { createRefusal, type ToolContext, type ToolReturn } from "./tool.ts"

export interface AgentQuestion {
  readonly agent: string
  readonly message: string
  readonly mode: "sync" | "async"
}

export type AskAgent = (question: AgentQuestion, context: ToolContext) => Promise<ToolReturn>

/**
 * Creates the tool (SPEC AG3–AG12). Returns null if there are no other agents. A synchronous call takes as long as the
 * other agent, at most `ms`.
 *
 * Errors: `{error, details, code}` with `tool_arguments`, `agent_unknown`, `agent_loop`, `agent_fan_out`, `agent_busy`,
 *         `agent_failed`.
 */
export function createAgentsTool(peers: readonly PeerAgent[], askAgent: AskAgent, ms: number): UnnamedTool | null {
  if (peers.length === 0) return null
  const names = peers.map(({ name }) => name)
  const peerDescriptions = peers.map(({ name, description }) => `${name}: ${description}`)
  const tool = defineTool({
    description: [
      "Asks another agent. It does not see this conversation, so include everything that it needs to know.",
      "sync waits for the answer; async returns at once, and the answer arrives later as a separate message.",
      `The agents: ${peerDescriptions.join(" ")}`,
    ].join(" "),
    args: {
      type: "object",
      properties: {
        agent: { type: "string" },
        message: { type: "string", minLength: 1 },
        mode: { type: "string", enum: ["sync", "async"] },
      },
      required: ["agent", "message"],
      additionalProperties: false,
    },
    effects: "write",
    // The question's id is derived from the call, so the other session ignores a duplicate.
    repeatable: true,
    ms,
    async run({ agent, message, mode = "sync" }, context) {
      if (!names.includes(agent)) return createRefusal("agent_unknown", `The agents are ${names.join(", ")}.`)
      if (countUtf8Bytes(message) > MAX_MESSAGE_BYTES)
        return createRefusal("tool_arguments", `"/message" is longer than ${MAX_MESSAGE_BYTES} bytes.`)
      return await askAgent({ agent, message, mode }, context)
    },
  })
  // The model sees the agents' names in the schema. `run` checks the name, because an unknown agent has its own error
  // code.
  const properties = { ...Object(tool.parameters["properties"]), agent: { type: "string", enum: names } }
  return { ...tool, parameters: { ...tool.parameters, properties } }
}
