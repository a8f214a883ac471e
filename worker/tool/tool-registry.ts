/** tool-registry.ts: creates the tools of an agent. */

import type { PeerAgent, ToolName } from "../settings/agent-config.ts"
import { type TimeLimitsEnv, readTimeLimits } from "../platform/time-limits.ts"
import { createAgentsTool, type AskAgent } from "./agents-tool.ts"
import { createCanvasTool } from "./canvas-tool.ts"
import { createChartTool } from "./chart-tool.ts"
import { createImageTool } from "./image-tool.ts"
import { type ProbeEnv, createProbeTools } from "./probe-tools.ts"
import { type RenameSession, createRenameTool } from "./rename-tool.ts"
import { createSearchTool } from "./search/search-tool.ts"
import { createSpeakTool } from "./speak-tool.ts"
import type { Tool } from "./tool.ts"
import { type WeatherEnv, createWeatherSource, createWeatherTool } from "./weather/weather-tool.ts"
import type { ImageEnv } from "./image-ai.ts"

export type ToolEnv = WeatherEnv & ProbeEnv & TimeLimitsEnv & ImageEnv

/** The changes that tools can make in the session, and the agents that they can ask. */
export interface ToolHost {
  readonly renameSession: RenameSession
  readonly askAgent: AskAgent
  readonly peers: readonly PeerAgent[]
}

/** Creates the tools of these names. With PROBE_TOOLS=on, every agent also has the probe tools. */
export function createTools(env: ToolEnv, names: readonly ToolName[], host: ToolHost): readonly Tool[] {
  return [
    ...names.flatMap((name) => createTool(name, env, host) ?? []),
    ...(env.PROBE_TOOLS === "on" ? createProbeTools(env.PROBE_URL ?? "") : []),
  ]
}

function createTool(name: ToolName, env: ToolEnv, host: ToolHost): Tool | null {
  switch (name) {
    case "weather":
      return createWeatherTool(createWeatherSource(env))
    case "rename_conversation":
      return createRenameTool(host.renameSession)
    case "chart":
      return createChartTool()
    case "image_generate":
      return createImageTool(env)
    case "speak":
      return createSpeakTool()
    case "canvas_create":
      return createCanvasTool()
    case "search":
      return createSearchTool()
    case "agents_message":
      // Without other agents the tool would have nothing to offer.
      return host.peers.length === 0
        ? null
        : createAgentsTool(host.peers, host.askAgent, readTimeLimits(env).agentAnswerMs)
  }
}
