/**
 * resolve-agent.ts: turns an agent's configuration into a prompt, a model and tools for this deployment.
 *
 * agent (tenant) + env → RESOLVE → turn
 */

import type { Result } from "../../shared/fault.ts"
import { MODEL_CONTEXT_TOKENS } from "../../shared/limits.ts"
import type { Env } from "../env.ts"
import type { Log } from "../platform/log.ts"
import type { Model } from "../model/model-adapter.ts"
import { createSystemPrompt } from "../model/system-prompt.ts"
import { createAgentModel } from "../model/agent-model.ts"
import { estimatePromptTokens } from "../model/token-estimate.ts"
import { type Agent, type AgentView, GENERAL_AGENT_NAME, createAgentView } from "../settings/agent-config.ts"
import { createMcpTools, type McpHost } from "../mcp/create-mcp-tools.ts"
import { createTools, type ToolHost } from "../tool/built-in-tools.ts"
import { DEFAULT_AGENTS } from "../tool/default-agents.ts"
import type { Tool } from "../tool/tool.ts"
import { createWebhookTools, type WebhookHost } from "../webhook/create-webhook-tools.ts"

export interface ResolvedAgent {
  readonly name: string
  /** Whether a program or a service answers instead of the model (SPEC EA1, EA6). */
  readonly isExternal: boolean
  /** Whether the agent's questions are sent to a service. */
  readonly isWebhook: boolean
  readonly system: string
  /** A fault, for the log, if the deployment has no usable model with that name. */
  readonly model: Result<Model, string>
  readonly tools: readonly Tool[]
  /** Token budget of one model call. */
  readonly contextTokens: number
  readonly maxMessageTokens: number
}

/** What the tools of an agent need from their session. */
export type AgentHost = Omit<ToolHost, "peers"> & WebhookHost & McpHost

/** Share of the context that one message may fill. The remainder is for the model's output and tool results. */
const MESSAGE_SHARE = 0.75

export function resolveAgent(
  env: Env,
  { self, peers, models = [], mcp = [], webhooks = [] }: AgentView,
  host: AgentHost,
  log: Log,
): ResolvedAgent {
  const system = createSystemPrompt(self.prompt)
  const { tenant } = host.row
  const tools = [...createTools(env, self.tools, { ...host, peers })]
  // A tenant's or an MCP server's tool never replaces a built-in tool.
  for (const tool of [...createWebhookTools(env, host, webhooks), ...createMcpTools(env, host, mcp)])
    if (tools.every(({ name }) => name !== tool.name)) tools.push(tool)
  // A provider's cache needs the same order in each call (SPEC MO17).
  tools.sort((a, b) => (a.name < b.name ? -1 : 1))
  const { model, context } = createAgentModel(env, log, tenant, self, models)
  const contextTokens = context ?? (Number(env.MODEL_CONTEXT_TOKENS) || MODEL_CONTEXT_TOKENS)
  const maxMessageTokens = Math.floor((contextTokens - estimatePromptTokens(system, tools)) * MESSAGE_SHARE)
  const isWebhook = self.answered_by === "webhook"
  const isExternal = isWebhook || self.answered_by === "program"
  return { name: self.name, isExternal, isWebhook, system, model, tools, contextTokens, maxMessageTokens }
}

/**
 * Returns the agent without the tools that need approval, for turns started by another agent, in which no user can
 * approve calls.
 */
export function dropApprovalTools(agent: ResolvedAgent): ResolvedAgent {
  return { ...agent, tools: agent.tools.filter((tool) => tool.needsApproval === undefined) }
}

/** Returns the agent of a session that was created before agents were configurable. */
export function defaultAgentView(): AgentView {
  const [general] = DEFAULT_AGENTS as readonly [Agent, ...Agent[]]
  return createAgentView(DEFAULT_AGENTS, GENERAL_AGENT_NAME) ?? { self: general, peers: [] }
}
