/**
 * agent-config.ts: an agent's configuration: its name, prompt, model and tools. Pure.
 */

import * as v from "valibot"
import { MAX_AGENT_PROMPT_CHARS } from "../../shared/limits.ts"
import type { McpTool } from "./mcp-config.ts"
import { EFFORTS } from "../../shared/model-effort.ts"
import type { TenantModel } from "./model-config.ts"
import type { PriceEntry } from "../../shared/usage/price-entry.ts"

/** The tools that an agent can have (tool/tool-registry.ts). */
export const TOOL_NAMES = [
  "weather",
  "rename_conversation",
  "agents_message",
  "chart",
  "image_generate",
  "speak",
  "canvas_create",
  "search",
] as const

export type ToolName = (typeof TOOL_NAMES)[number]

/** Most MCP servers of one agent. */
const MAX_AGENT_SERVERS = 8

/**
 * The name of an MCP server. No underscore, because one separates the server from the tool in the names that models see.
 */
export const mcpNameSchema = v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]{0,19}$/))

export const agentNameSchema = v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_-]{0,31}$/))

const lineSchema = v.pipe(v.string(), v.maxLength(200), v.transform(makeWellFormed))

/** The body of `PUT /v1/agents/:name`. */
export const agentSchema = v.object({
  /** Shown to the other agents, so that they know when to ask this agent. */
  description: lineSchema,
  prompt: v.pipe(v.string(), v.minLength(1), v.maxLength(MAX_AGENT_PROMPT_CHARS), v.transform(makeWellFormed)),
  /** A model name of the deployment's provider, or `scripted`. Null: the deployment's default model. */
  model: v.optional(v.nullable(v.pipe(lineSchema, v.minLength(1))), null),
  tools: v.optional(v.array(v.picklist(TOOL_NAMES)), []),
  /** MCP servers of the tenant whose allowed tools the agent has. Absent: none. */
  mcp_servers: v.optional(v.pipe(v.array(mcpNameSchema), v.maxLength(MAX_AGENT_SERVERS))),
  /** Models that are called, in this order, if a call of `model` fails before its first output (SPEC TM6). */
  fallbacks: v.optional(v.pipe(v.array(v.pipe(lineSchema, v.minLength(1))), v.maxLength(3))),
  effort: v.optional(v.picklist(EFFORTS)),
  /** `program`: a program answers instead of a model (SPEC EA1). Absent: the model. */
  answered_by: v.optional(v.picklist(["model", "program"])),
})

export interface Agent extends v.InferOutput<typeof agentSchema> {
  readonly name: string
}

/** The fields of an agent that other agents see. */
export type PeerAgent = Pick<Agent, "name" | "description">

/** What a tenant allows in its transcripts, and whether its sessions get titles from the model. */
export interface TenantSettings {
  /** Origins whose documents `[embed]` can frame, as `https://host`. */
  readonly embed_origins: readonly string[]
  /** Hosts whose media is loaded without a click. */
  readonly media_hosts: readonly string[]
  /** Whether the model gives titles to sessions. Absent: the deployment's default. */
  readonly titles?: boolean | undefined
  /** Sites that may show the tenant's widget, as `https://host` or `https://*.domain`. Absent: none. */
  readonly embed_hosts?: readonly string[]
  /** Whether users see what their answers cost. Absent: no. */
  readonly show_cost?: boolean
}

export const NO_SETTINGS: TenantSettings = { embed_origins: [], media_hosts: [] }

/** A session's agent and its peers, together with the tenant's settings. */
export interface AgentView {
  readonly self: Agent
  readonly peers: readonly PeerAgent[]
  readonly settings?: TenantSettings
  /** Present if the tenant has set any budget. The session then checks with the directory before its turns (SPEC BU7). */
  readonly hasBudgets?: true
  /** The tools of the agent's MCP servers. Absent: none. */
  readonly mcp?: readonly McpTool[]
  /** Those of the agent's models that the tenant has configured. Without their keys. */
  readonly models?: readonly TenantModel[]
  /** The tenant's own prices of the agent's model, if there are any. */
  readonly prices?: readonly PriceEntry[]
}

/** The agent of a session that was created without an agent name. */
export const GENERAL_AGENT_NAME = "general"

/** A tenant has these agents until it configures others. */
export const DEFAULT_AGENTS: readonly Agent[] = [
  {
    name: GENERAL_AGENT_NAME,
    description: "Answers any question, and asks the other agents about their subjects.",
    prompt: [
      "You are Cuecard, a helpful assistant. Answer in the language of the user, in Markdown, briefly and concretely.",
      "Use a tool when it has better information than you; call several tools at once if they do not depend on each other.",
      "Never state a figure that neither a tool nor the user gave you. If a tool failed, say so and name what you asked it for.",
    ].join("\n"),
    model: null,
    tools: [...TOOL_NAMES],
  },
  {
    name: "weather",
    description: "Reports the current weather and the forecast for any city.",
    prompt: [
      "You are the weather agent. You only answer questions about the weather.",
      "Use the weather tool for every place, and never state a figure that it did not give you. Write one or two sentences per place.",
    ].join("\n"),
    model: null,
    tools: ["weather"],
  },
  {
    name: "researcher",
    description: "Researches a question in several steps, and looks up facts for each of them.",
    prompt: [
      "You are the researcher. Before each step, think about what is known, what has to be looked up, and what follows from it.",
      "Use your tools, compare their results, and end with a short list of findings. Never state a figure that no tool gave you.",
    ].join("\n"),
    model: null,
    tools: ["weather", "agents_message"],
  },
]

/** The agent with this name and its peers; null if there is no such agent. */
export function createAgentView(agents: readonly Agent[], name: string): AgentView | null {
  const self = agents.find((agent) => agent.name === name)
  if (self === undefined) return null
  const peers = agents.filter((agent) => agent !== self).map(({ name, description }) => ({ name, description }))
  return { self, peers }
}

function makeWellFormed(text: string): string {
  return text.toWellFormed()
}
