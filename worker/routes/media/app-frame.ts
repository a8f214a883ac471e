/**
 * app-frame.ts: creates the response with a stored MCP App. Its policy allows only origins that the app declares and
 * the tenant also lists (SPEC MA4). Loaded on first use.
 */

import type { Env } from "../../env.ts"
import { decodeApp, intersectOrigins } from "../../mcp/app-document.ts"
import { describeError, logError } from "../../platform/log.ts"
import { tenantStub } from "../../platform/rpc/object-stubs.ts"
import { createDocumentHeaders } from "./content-policy.ts"
import { wrapApp } from "./wrap-app.ts"

/** Creates the response; null if the stored text isn't an app. */
export async function createAppResponse(
  env: Env,
  tenant: string | null,
  text: string,
  ancestors: readonly string[],
): Promise<Response | null> {
  const app = decodeApp(text)
  if (app === null || tenant === null) return null
  const allowed = await loadAppHosts(env, tenant, app.server)
  const sources = {
    connect: intersectOrigins(app.connect, allowed),
    resource: intersectOrigins(app.resource, allowed).filter((source) => source.startsWith("http")),
  }
  return new Response(wrapApp(app.html), { headers: createDocumentHeaders(ancestors, sources) })
}

/** Loads the origins that the tenant lists for a server; none if the tenant's object fails. */
async function loadAppHosts(env: Env, tenant: string, server: string): Promise<readonly string[]> {
  try {
    return await tenantStub(env, tenant).listMcpAppHosts(server)
  } catch (error) {
    logError("settings_unknown", { error: describeError(error) })
    return []
  }
}
