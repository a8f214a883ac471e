/**
 * agent-config.ts: who may answer in a session: a name, what it is told to be, its model and its tools.
 *
 * A tenant has these three until it configures others (tenant.ts). Pure.
 */

import * as v from "valibot"
import { MAX_AGENT_PROMPT_CHARS } from "../../shared/limits.ts"

/** The tools that an agent may be given. The list is closed, as that of tool/registry.ts is. */
export const TOOL_NAMES = [
  ...(["weather", "rename_conversation", "agents_message"] as const),
  ...(["image_generate", "speak", "canvas_create"] as const),
] as const

export type ToolName = (typeof TOOL_NAMES)[number]

export const agentNameSchema = v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_-]{0,31}$/))

const lineSchema = v.pipe(v.string(), v.maxLength(200), v.transform(makeWellFormed))

/** What a tenant says of an agent; its name stands in the address. */
export const agentSchema = v.object({
  /** For the other agents: when to ask this one. */
  description: lineSchema,
  prompt: v.pipe(v.string(), v.minLength(1), v.maxLength(MAX_AGENT_PROMPT_CHARS), v.transform(makeWellFormed)),
  /** A name that the deployment's provider knows, or `scripted`; without it the deployment's own. */
  model: v.optional(v.nullable(v.pipe(lineSchema, v.minLength(1))), null),
  tools: v.optional(v.array(v.picklist(TOOL_NAMES)), []),
})

export interface Agent extends v.InferOutput<typeof agentSchema> {
  readonly name: string
}

/** An agent as others are told of it. */
export type PeerAgent = Pick<Agent, "name" | "description">

/** What a tenant allows its transcripts beside our own. */
export interface TenantSettings {
  /** Origins whose documents `[embed]` may frame, as `https://host`. */
  readonly embed_origins: readonly string[]
  /** Hosts whose media is loaded without a click. */
  readonly media_hosts: readonly string[]
}

export const NO_SETTINGS: TenantSettings = { embed_origins: [], media_hosts: [] }

/** What a session knows of who answers in it, and of what its tenant allows. */
export interface AgentView {
  readonly self: Agent
  readonly peers: readonly PeerAgent[]
  readonly settings?: TenantSettings
}

/** Who answers where nobody else was asked for. */
export const GENERAL_AGENT_NAME = "general"

export const DEFAULT_AGENTS: readonly Agent[] = [
  {
    name: GENERAL_AGENT_NAME,
    description: "Answers anything, and asks the others where they know better.",
    prompt: [
      "You are Cuecard, a helpful assistant. Answer in the language of the user, in Markdown, briefly and concretely.",
      "Use a tool when it knows better than you do; call several tools at once when their answers do not depend on each other.",
      "Never state a figure that no tool or user gave you. If a tool failed, say so in words and name what it was asked.",
    ].join("\n"),
    model: null,
    tools: [...TOOL_NAMES],
  },
  {
    name: "weather",
    description: "Knows the weather of any city, now and for the next days.",
    prompt: [
      "You are the weather agent. You answer questions about the weather, and nothing else.",
      "Use the weather tool for every place; never state a figure that it did not give you. One or two sentences a place.",
    ].join("\n"),
    model: null,
    tools: ["weather"],
  },
  {
    name: "researcher",
    description: "Thinks a question through in several steps, and looks things up for each of them.",
    prompt: [
      "You are the researcher. Think before each step: what is known, what has to be looked up, what follows from it.",
      "Use your tools, compare what they say, and end with a short list of findings. Never state a figure that no tool gave you.",
    ].join("\n"),
    model: null,
    tools: ["weather", "agents_message"],
  },
]

/** A session's view of one of these agents; null where there is none of that name. */
export function createAgentView(agents: readonly Agent[], name: string): AgentView | null {
  const self = agents.find((agent) => agent.name === name)
  if (self === undefined) return null
  const peers = agents.filter((agent) => agent !== self).map(({ name, description }) => ({ name, description }))
  return { self, peers }
}

function makeWellFormed(text: string): string {
  return text.toWellFormed()
}
