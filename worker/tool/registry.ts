/**
 * tool/registry.ts: the tools that a turn has. One line per tool; the list is closed.
 */

import { type ProbeEnv, probeTools } from "./probe.ts"
import { type Rename, renameTool } from "./rename.ts"
import type { Tool } from "./tool.ts"
import { type WeatherEnv, weatherSourceFor, weatherTool } from "./weather.ts"

export type ToolEnv = WeatherEnv & ProbeEnv

/** What tools may do to the session that they run in. */
export interface ToolHouse {
  readonly rename: Rename
}

export function toolsFor(env: ToolEnv, house: ToolHouse): readonly Tool[] {
  return [
    weatherTool(weatherSourceFor(env)),
    renameTool(house.rename),
    ...(env.PROBE_TOOLS === "on" ? probeTools(env.PROBE_URL ?? "") : []),
  ]
}
