/**
 * built-in-tools.ts: the registry of the built-in tools.
 *
 * To add a tool, write its file and add a line here. Tenants can then give the tool to their agents. Decision 0072.
 */

import type { PeerAgent } from "../settings/agent-config.ts"
import { readTimeLimits, type TimeLimitsEnv } from "../platform/time-limits.ts"
import { type AskAgent, createAgentsTool } from "./agents-tool.ts"
import { createCalculateTool } from "./calculate/calculate-tool.ts"
import { createCanvasTool } from "./canvas-tool.ts"
import { createChartTool } from "./chart-tool.ts"
import type { UnnamedTool } from "./define-tool.ts"
import type { ImageEnv } from "./image/image-ai.ts"
import { createImageTool } from "./image/image-tool.ts"
import { createListTool } from "./list-tool.ts"
import { createPageTool, type PageEnv } from "./page/page-tool.ts"
import { createProbeTools, type ProbeEnv } from "./probe-tools.ts"
import { createRenameTool, type RenameSession } from "./rename-tool.ts"
import { createSearchTool, type SearchEnv } from "./search/search-tool.ts"
import { createSpeakTool } from "./speak-tool.ts"
import { createTimerTool } from "./timer-tool.ts"
import type { Tool } from "./tool.ts"
import { createWeatherSource, createWeatherTool, type WeatherEnv } from "./weather/weather-tool.ts"

export type ToolEnv = WeatherEnv & ProbeEnv & TimeLimitsEnv & ImageEnv & SearchEnv & PageEnv

/** The changes that tools can make in the session, and the agents that they can ask. */
export interface ToolHost {
  readonly renameSession: RenameSession
  readonly askAgent: AskAgent
  readonly peers: readonly PeerAgent[]
}

/** Creates a tool for a session. Returns null if the tool is of no use there. */
type CreateTool = (env: ToolEnv, host: ToolHost) => UnnamedTool | null

const BUILT_IN_TOOLS: ReadonlyMap<string, CreateTool> = new Map<string, CreateTool>([
  ["weather", (env) => createWeatherTool(createWeatherSource(env))],
  ["rename_conversation", (_env, host) => createRenameTool(host.renameSession)],
  ["agents_message", (env, host) => createAgentsTool(host.peers, host.askAgent, readTimeLimits(env).agentAnswerMs)],
  ["chart", createChartTool],
  ["image_generate", createImageTool],
  ["speak", createSpeakTool],
  ["canvas_create", createCanvasTool],
  ["search", (env) => createSearchTool(env)],
  ["fetch_page", (env) => createPageTool(env)],
  ["calculate", createCalculateTool],
  ["timer", createTimerTool],
  ["list", createListTool],
])

export const BUILT_IN_TOOL_NAMES: readonly string[] = [...BUILT_IN_TOOLS.keys()]

/**
 * Creates the tools with these names. Unknown names are left out, because an agent's configuration keeps the names of
 * tools that a later release has removed. With PROBE_TOOLS=on, every agent also has the probe tools.
 */
export function createTools(env: ToolEnv, names: readonly string[], host: ToolHost): readonly Tool[] {
  const tools = names.flatMap((name) => {
    const tool = BUILT_IN_TOOLS.get(name)?.(env, host) ?? null
    return tool === null ? [] : [{ name, ...tool }]
  })
  return env.PROBE_TOOLS === "on" ? [...tools, ...createProbeTools(env.PROBE_URL ?? "")] : tools
}
