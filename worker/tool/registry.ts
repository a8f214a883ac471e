/**
 * tool/registry.ts: the tools that a turn has. One line per tool; the list is closed.
 */

import type { Tool } from "./tool.ts"
import { type WeatherEnv, weatherSourceFor, weatherTool } from "./weather.ts"

export type ToolEnv = WeatherEnv

export function toolsFor(env: ToolEnv): readonly Tool[] {
  return [weatherTool(weatherSourceFor(env))]
}
