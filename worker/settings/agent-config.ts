/**
 * agent-config.ts: an agent's configuration: its name, prompt, model and tools. Pure.
 */

import * as v from "valibot"
import { MAX_AGENT_PROMPT_CHARS, MAX_URL_CHARS } from "../../shared/limits.ts"
import type { McpTool } from "./mcp-config.ts"
import { EFFORTS } from "../../shared/model-effort.ts"
import type { TenantModel } from "./model-config.ts"
import type { WebhookTool } from "./webhooks/webhook-tool.ts"
import type { PriceEntry } from "../../shared/usage/price-entry.ts"

/** Maximum number of tools in an agent's own list. */
const MAX_AGENT_TOOLS = 64

/** Maximum number of MCP servers per agent. */
const MAX_AGENT_SERVERS = 8

/**
 * The name of an MCP server. It contains no underscore, because an underscore separates the server from the tool in the
 * names that models see.
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
  /** Names of built-in tools and of webhook tools. The tenant object checks that they exist. */
  tools: v.optional(v.pipe(v.array(v.pipe(v.string(), v.maxLength(64))), v.maxLength(MAX_AGENT_TOOLS)), []),
  /** The tenant's MCP servers whose allowed tools the agent can use. Absent: none. */
  mcp_servers: v.optional(v.pipe(v.array(mcpNameSchema), v.maxLength(MAX_AGENT_SERVERS))),
  /** Models that are called, in this order, if a call to `model` fails before it has produced any output (SPEC TM6). */
  fallbacks: v.optional(v.pipe(v.array(v.pipe(lineSchema, v.minLength(1))), v.maxLength(3))),
  effort: v.optional(v.picklist(EFFORTS)),
  /**
   * `program`, `webhook`: a program or a service of the tenant answers instead of a model (SPEC EA1, EA6). Absent: the
   * model.
   */
  answered_by: v.optional(v.picklist(["model", "program", "webhook"])),
  /** The URL of the service, with `answered_by: "webhook"`. The route checks it. */
  url: v.optional(v.pipe(v.string(), v.maxLength(MAX_URL_CHARS))),
})

export type AgentInput = v.InferOutput<typeof agentSchema>

export interface Agent extends AgentInput {
  readonly name: string
}

/** The fields of an agent that other agents see. */
export type PeerAgent = Pick<Agent, "name" | "description">

/**
 * A tenant's settings: what its transcripts may load, which sites may show its widget, and which optional features are
 * enabled.
 */
export interface TenantSettings {
  /** Origins whose documents `[embed]` can frame, as `https://host`. */
  readonly embed_origins: readonly string[]
  /** Hosts whose media is loaded without a click. */
  readonly media_hosts: readonly string[]
  /** Whether the model gives titles to sessions. Absent: the deployment's default. */
  readonly titles?: boolean | undefined
  /** Sites that may show the tenant's widget, as `https://host` or `https://*.domain`. Absent: none. */
  readonly embed_hosts?: readonly string[]
  /** Whether the model suggests questions after an answer. Absent: no. */
  readonly follow_ups?: boolean
  /** Whether users see what their answers cost. Absent: no. */
  readonly show_cost?: boolean
}

export const NO_SETTINGS: TenantSettings = { embed_origins: [], media_hosts: [] }

/** A session's agent and its peers, together with the tenant's settings. */
export interface AgentView {
  readonly self: Agent
  readonly peers: readonly PeerAgent[]
  readonly settings?: TenantSettings
  /**
   * Present if the tenant has set any budget. If so, the session checks with the directory before its turns (SPEC BU7).
   */
  readonly hasBudgets?: true
  /** The tools of the agent's MCP servers. Absent: none. */
  readonly mcp?: readonly McpTool[]
  /** The agent's webhook tools. Absent: none. */
  readonly webhooks?: readonly WebhookTool[]
  /** Those of the agent's models that the tenant has configured, without their keys. */
  readonly models?: readonly TenantModel[]
  /** The tenant's own prices for the agent's models, if there are any. */
  readonly prices?: readonly PriceEntry[]
}

/** The agent of a session that was created without an agent name. */
export const GENERAL_AGENT_NAME = "general"

/** Returns the agent with this name and its peers; null if there is no such agent. */
export function createAgentView(agents: readonly Agent[], name: string): AgentView | null {
  const self = agents.find((agent) => agent.name === name)
  if (self === undefined) return null
  const peers = agents.filter((agent) => agent !== self).map(({ name, description }) => ({ name, description }))
  return { self, peers }
}

function makeWellFormed(text: string): string {
  return text.toWellFormed()
}
