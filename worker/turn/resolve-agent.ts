/**
 * resolve-agent.ts: who answers in a session: what its agent's configuration comes to in this deployment.
 *
 * agent (tenant) + env → ANSWERER → turn: prompt, model, tools
 */

import type { Result } from "../../shared/fault.ts"
import { MODEL_CONTEXT_TOKENS } from "../../shared/limits.ts"
import type { Env } from "../env.ts"
import type { Model } from "../model/model-adapter.ts"
import { createSystemPrompt } from "../model/system-prompt.ts"
import { createModel } from "../model/model-registry.ts"
import { estimatePromptTokens } from "../model/token-estimate.ts"
import {
  type Agent,
  type AgentView,
  DEFAULT_AGENTS,
  GENERAL_AGENT_NAME,
  createAgentView,
} from "../tenant/agent-config.ts"
import { createTools, type ToolHost } from "../tool/tool-registry.ts"
import type { Tool } from "../tool/tool.ts"

export interface ResolvedAgent {
  readonly name: string
  readonly system: string
  /** A fault (for the log) where the deployment has no usable model of that name. */
  readonly model: Result<Model, string>
  readonly tools: readonly Tool[]
  /** Tokens that go into one model call at most. */
  readonly contextTokens: number
  /** Tokens that one message may have. */
  readonly maxMessageTokens: number
}

/** Share of the model's tokens that one message may have: the rest is for what the model and its tools say. */
const MESSAGE_SHARE = 0.75

type Log = (event: string, detail: Record<string, unknown>) => void

export function resolveAgent(
  env: Env,
  { self, peers }: AgentView,
  toolServices: Omit<ToolHost, "peers">,
  log: Log,
): ResolvedAgent {
  const system = createSystemPrompt(self.prompt)
  const tools = createTools(env, self.tools, { ...toolServices, peers })
  const contextTokens = Number(env.MODEL_CONTEXT_TOKENS) || MODEL_CONTEXT_TOKENS
  const maxMessageTokens = Math.floor((contextTokens - estimatePromptTokens(system, tools)) * MESSAGE_SHARE)
  return { name: self.name, system, model: createModel(env, log, self.model), tools, contextTokens, maxMessageTokens }
}

/** In a turn that another agent began nobody is there to ask for leave. */
export function dropApprovalTools(agent: ResolvedAgent): ResolvedAgent {
  return { ...agent, tools: agent.tools.filter((tool) => tool.needsApproval === undefined) }
}

/** Sessions that were made before there were several agents have the general one. */
export function defaultAgentView(): AgentView {
  const [general] = DEFAULT_AGENTS as readonly [Agent, ...Agent[]]
  return createAgentView(DEFAULT_AGENTS, GENERAL_AGENT_NAME) ?? { self: general, peers: [] }
}
