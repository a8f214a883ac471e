/**
 * resolve-agent.ts: who answers in a session: what its agent's configuration comes to in this deployment.
 *
 * agent (tenant) + env → ANSWERER → turn: prompt, model, tools
 */

import type { Result } from "../../shared/fault.ts"
import { MODEL_CONTEXT_TOKENS } from "../../shared/limits.ts"
import type { Env } from "../env.ts"
import type { Model } from "../model/model-adapter.ts"
import { systemPrompt } from "../model/system-prompt.ts"
import { modelFor } from "../model/model-registry.ts"
import { tokensOfFrame } from "../model/token-estimate.ts"
import { type Agent, type AgentView, DEFAULT_AGENTS, GENERAL, viewOf } from "../tenant/agent-config.ts"
import { toolsFor, type ToolHouse } from "../tool/tool-registry.ts"
import type { Tool } from "../tool/tool.ts"

export interface Answerer {
  readonly name: string
  readonly system: string
  /** A fault (for the log) where the deployment has no usable model of that name. */
  readonly model: Result<Model, string>
  readonly tools: readonly Tool[]
  /** Tokens that go into one model call at most. */
  readonly contextTokens: number
  /** Tokens that one message may have. */
  readonly maxTokens: number
}

/** Share of the model's tokens that one message may have: the rest is for what the model and its tools say. */
const MESSAGE_SHARE = 0.75

type Log = (event: string, detail: Record<string, unknown>) => void

export function answererFor(env: Env, { self, peers }: AgentView, house: Omit<ToolHouse, "peers">, log: Log): Answerer {
  const system = systemPrompt(self.prompt)
  const tools = toolsFor(env, self.tools, { ...house, peers })
  const contextTokens = Number(env.MODEL_CONTEXT_TOKENS) || MODEL_CONTEXT_TOKENS
  const maxTokens = Math.floor((contextTokens - tokensOfFrame(system, tools)) * MESSAGE_SHARE)
  return { name: self.name, system, model: modelFor(env, log, self.model), tools, contextTokens, maxTokens }
}

/** In a turn that another agent began nobody is there to ask for leave. */
export function withoutApproval(answerer: Answerer): Answerer {
  return { ...answerer, tools: answerer.tools.filter((tool) => tool.needsApproval === undefined) }
}

/** Sessions that were made before there were several agents have the general one. */
export function defaultView(): AgentView {
  const [general] = DEFAULT_AGENTS as readonly [Agent, ...Agent[]]
  return viewOf(DEFAULT_AGENTS, GENERAL) ?? { self: general, peers: [] }
}
