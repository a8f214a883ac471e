/**
 * page-routes.ts: everything that is no API path is a file of the page.
 *
 * Its HTML comes through here, since what it may frame is the tenant's to say; its hashed files are served by the
 * platform before the Worker runs (wrangler.toml, `run_worker_first`), with the headers of public/_headers.
 */

import { type Context, Hono } from "hono"
import { SETTINGS_FRESH_MS } from "../../shared/limits.ts"
import { getCanvasOrigin, type Env, getPageTenant } from "../env.ts"
import type { TenantSettings } from "../tenant/agent-config.ts"
import { readDeploymentSettings } from "../tenant/tenant-settings.ts"
import { getTenantStub } from "../tenant/tenant-object.ts"
import type { AppEnv } from "../platform/fault-response.ts"
import { createPageHeaders } from "./content-policy.ts"

export const pageRoutes = new Hono<AppEnv>().get("*", async (context) => {
  const file = await context.env.ASSETS.fetch(removeConditions(context.req.raw))
  if (!(file.headers.get("content-type") ?? "").startsWith("text/html")) return file
  return await applyPolicy(context, file)
})

/** A page that did not change may come with a policy that did: "not changed" is no answer to give. */
function removeConditions(request: Request): Request {
  const headers = new Headers(request.headers)
  for (const name of ["if-none-match", "if-modified-since"]) headers.delete(name)
  return new Request(request, { headers })
}

async function applyPolicy({ env, req }: Context<AppEnv>, file: Response): Promise<Response> {
  const origins = { own: new URL(req.url).origin, canvas: getCanvasOrigin(env) }
  const headers = new Headers(file.headers)
  for (const [name, value] of Object.entries(createPageHeaders(origins, await loadSettings(env))))
    headers.set(name, value)
  headers.delete("etag")
  return new Response(file.body, { status: file.status, headers })
}

/** What the tenant of this page said of late; one for all requests of this isolate. */
let cachedSettings: { readonly tenant: string; readonly at: number; readonly settings: TenantSettings } | null = null

/** A page whose tenant is not known, or cannot be asked, frames what all tenants may: the page is not to fail over that. */
async function loadSettings(env: Env): Promise<TenantSettings> {
  const tenant = getPageTenant(env)
  if (tenant === null) return readDeploymentSettings(env)
  const now = Date.now()
  const cached = cachedSettings
  // A clock that was set back makes it old, not new.
  if (cached?.tenant === tenant && cached.at <= now && now - cached.at < SETTINGS_FRESH_MS) return cached.settings
  try {
    const settings = await getTenantStub(env, tenant).getSettings()
    cachedSettings = { tenant, at: now, settings }
    return settings
  } catch (error) {
    console.error(JSON.stringify({ event: "settings_unknown", message: String(error) }))
    return readDeploymentSettings(env)
  }
}

/** Here, where somebody set them, they hold at once. */
export function clearCachedSettings(tenant: string): void {
  if (cachedSettings?.tenant === tenant) cachedSettings = null
}
