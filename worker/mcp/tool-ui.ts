/** tool-ui.ts: reads the metadata about an MCP tool's app (`_meta.ui`). Pure. Source: SPEC MA1. */

import { isJsonObject } from "../../shared/json.ts"
import type { OfferedTool, ToolVisibility } from "../settings/mcp-config.ts"

/** Matches an app's URI, which may have at most 256 characters. */
const APP_URI = /^ui:\/\/[\x21-\x7e]{1,251}$/

/**
 * Reads a tool's app and visibility. Anything that is not well formed is ignored. Older servers name the app in a flat
 * field.
 */
export function readToolUi({ _meta }: { readonly [key: string]: unknown }): Pick<OfferedTool, "app" | "visibility"> {
  if (!isJsonObject(_meta)) return {}
  const ui = isJsonObject(_meta["ui"]) ? _meta["ui"] : {}
  const app = ui["resourceUri"] ?? _meta["ui/resourceUri"]
  const visibility = readVisibility(ui["visibility"])
  return {
    ...(typeof app === "string" && APP_URI.test(app) && { app }),
    ...(visibility !== undefined && { visibility }),
  }
}

function readVisibility(value: unknown): ToolVisibility | undefined {
  if (!Array.isArray(value)) return undefined
  const [forModels, forApps] = [value.includes("model"), value.includes("app")]
  if (forModels && forApps) return undefined
  return forModels ? "model" : forApps ? "app" : "none"
}
