/**
 * tool-registry.ts: the tools that a turn has. One line per tool; the list is closed.
 */

import type { Peer, ToolName } from "../tenant/agent-config.ts"
import { type TimesEnv, timesFor } from "../platform/time-limits.ts"
import { agentsTool, type AskAgent } from "./agents-tool.ts"
import { canvasTool } from "./canvas-tool.ts"
import { imageTool } from "./image-tool.ts"
import type { ImageEnv } from "./image-ai.ts"
import { type ProbeEnv, probeTools } from "./probe-tools.ts"
import { type Rename, renameTool } from "./rename-tool.ts"
import { speakTool } from "./speak-tool.ts"
import type { Tool } from "./tool.ts"
import { type WeatherEnv, weatherSourceFor, weatherTool } from "./weather/weather-tool.ts"

export type ToolEnv = WeatherEnv & ProbeEnv & TimesEnv & ImageEnv

/** What tools may do to the session that they run in, and whom they may ask. */
export interface ToolHouse {
  readonly rename: Rename
  readonly ask: AskAgent
  readonly peers: readonly Peer[]
}

/** The tools of these names; and, for tests, those of probe.ts, which every agent has. */
export function toolsFor(env: ToolEnv, names: readonly ToolName[], house: ToolHouse): readonly Tool[] {
  return [
    ...names.flatMap((name) => toolNamed(name, env, house) ?? []),
    ...(env.PROBE_TOOLS === "on" ? probeTools(env.PROBE_URL ?? "") : []),
  ]
}

function toolNamed(name: ToolName, env: ToolEnv, house: ToolHouse): Tool | null {
  switch (name) {
    case "weather":
      return weatherTool(weatherSourceFor(env))
    case "rename_conversation":
      return renameTool(house.rename)
    case "image_generate":
      return imageTool(env)
    case "speak":
      return speakTool()
    case "canvas_create":
      return canvasTool()
    case "agents_message":
      // Where there is nobody to ask there is nothing to offer.
      return house.peers.length === 0 ? null : agentsTool(house.peers, house.ask, timesFor(env).agentMs)
  }
}
