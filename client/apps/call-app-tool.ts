/** call-app-tool.ts: sends an MCP App's call to a tool of the app's server. SPEC MA7. */

import { isJsonObject } from "../../shared/json.ts"
import { parseCanvasUrl } from "../../shared/protocol/asset-url.ts"
import { type Api, sessionPath } from "../net/api.ts"
import { createJsonRequest, readJson, RequestError } from "../net/http-request.ts"
import type { JsonObject } from "./app-bridge.ts"

/**
 * Resolves with null if the user has to allow the call. Rejects if the server refuses the call, or if the call fails.
 */
export async function callAppTool(
  api: Api,
  place: { readonly session: string; readonly url: string },
  call: { readonly tool: string; readonly args: JsonObject; readonly allowed: boolean },
): Promise<JsonObject | null> {
  const path = sessionPath(place.session, `/apps/${parseCanvasUrl(place.url)}/calls`)
  try {
    const result = await readJson(await api.fetchAuthorized(path, createJsonRequest("POST", call)))
    return isJsonObject(result) ? (result as JsonObject) : {}
  } catch (error) {
    if (!call.allowed && error instanceof RequestError && error.fields["because"] === "approval") return null
    throw error
  }
}
