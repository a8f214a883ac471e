/**
 * page-routes.ts: everything that is no API path is a file of the page.
 *
 * Its HTML comes through here, since what it may frame is the tenant's to say; its hashed files are served by the
 * platform before the Worker runs (wrangler.toml, `run_worker_first`), with the headers of public/_headers.
 */

import { type Context, Hono } from "hono"
import { SETTINGS_FRESH_MS } from "../../shared/limits.ts"
import { canvasOrigin, type Env, pageTenant } from "../env.ts"
import type { TenantSettings } from "../tenant/agent-config.ts"
import { deploymentSettings } from "../tenant/tenant-settings.ts"
import { tenantOf } from "../tenant/tenant-object.ts"
import type { App } from "../platform/fault-response.ts"
import { pageHeaders } from "./content-policy.ts"

export const page = new Hono<App>().get("*", async (context) => {
  const file = await context.env.ASSETS.fetch(unconditional(context.req.raw))
  if (!(file.headers.get("content-type") ?? "").startsWith("text/html")) return file
  return await withPolicy(context, file)
})

/** A page that did not change may come with a policy that did: "not changed" is no answer to give. */
function unconditional(request: Request): Request {
  const headers = new Headers(request.headers)
  for (const name of ["if-none-match", "if-modified-since"]) headers.delete(name)
  return new Request(request, { headers })
}

async function withPolicy({ env, req }: Context<App>, file: Response): Promise<Response> {
  const places = { own: new URL(req.url).origin, canvas: canvasOrigin(env) }
  const headers = new Headers(file.headers)
  for (const [name, value] of Object.entries(pageHeaders(places, await settingsOf(env)))) headers.set(name, value)
  headers.delete("etag")
  return new Response(file.body, { status: file.status, headers })
}

/** What the tenant of this page said of late; one for all requests of this isolate. */
let remembered: { readonly tenant: string; readonly at: number; readonly settings: TenantSettings } | null = null

/** A page whose tenant is not known, or cannot be asked, frames what all tenants may: the page is not to fail over that. */
async function settingsOf(env: Env): Promise<TenantSettings> {
  const tenant = pageTenant(env)
  if (tenant === null) return deploymentSettings(env)
  const now = Date.now()
  const held = remembered
  // A clock that was set back makes it old, not new.
  if (held?.tenant === tenant && held.at <= now && now - held.at < SETTINGS_FRESH_MS) return held.settings
  try {
    const settings = await tenantOf(env, tenant).settings()
    remembered = { tenant, at: now, settings }
    return settings
  } catch (error) {
    console.error(JSON.stringify({ event: "settings_unknown", message: String(error) }))
    return deploymentSettings(env)
  }
}

/** Here, where somebody set them, they hold at once. */
export function forgetSettings(tenant: string): void {
  if (remembered?.tenant === tenant) remembered = null
}
