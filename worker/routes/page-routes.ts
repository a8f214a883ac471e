/**
 * page-routes.ts: serves the files of the page, and responds with 404 to every path that is neither a file nor an API
 * route.
 *
 * HTML passes through here, because its content security policy depends on the tenant's settings. The platform serves
 * the hashed files before the Worker runs (wrangler.toml, `run_worker_first`), with the headers of public/_headers.
 */

import type { Context } from "hono"
import * as v from "valibot"
import { SETTINGS_FRESH_MS } from "../../shared/asset-limits.ts"
import type { PageSettings } from "../../shared/protocol/http-body.ts"
import { themeToHeadJson } from "../../shared/theme/theme-head.ts"
import { type Env, getCanvasOrigin, getPageTenant } from "../env.ts"
import { faultToResponse } from "../platform/fault-response.ts"
import { FreshCache } from "../platform/fresh-cache.ts"
import { describeError, logError } from "../platform/log.ts"
import { checkRegion } from "../platform/media-bucket.ts"
import { tenantStub } from "../platform/rpc/object-stubs.ts"
import { tenantIdSchema } from "../platform/tenant-id.ts"
import { readDeploymentSettings } from "../settings/tenant-settings.ts"
import { listEmbedParents } from "./access/embed-access.ts"
import { openShare } from "./access/open-share.ts"
import { errorToResponse } from "./access/report-request.ts"
import { readLimitAddress } from "./access/request-actor.ts"
import { createPageHeaders } from "./media/content-policy.ts"
import type { AppEnv } from "./request-body.ts"
import { createHono } from "./hono-app.ts"
import { serveServiceWorker, usesServiceWorker } from "./service-worker-route.ts"

/** Serves the page of a shared copy, which loads the copy itself. SPEC SR9. */
const serveSharePage = async (context: Context<AppEnv>): Promise<Response> => {
  const { env, req } = context
  const opened = await openShare(env, req.param("share") ?? "", readLimitAddress(context))
  const file = await env.ASSETS.fetch(new URL("/share", req.url))
  const tenant = opened.ok ? opened.value.tenant : null
  const page = await addPolicy(context, file, tenant)
  page.headers.set("x-robots-tag", "noindex, nofollow, noarchive")
  return opened.ok ? page : new Response(page.body, { status: 404, headers: page.headers })
}

export const pageRoutes = createHono<AppEnv>()
  .get("/share/:share", serveSharePage)
  .get("/service-worker.js", serveServiceWorker)
  .get("*", async (context) => {
    const file = await context.env.ASSETS.fetch(removeConditions(context.req.raw))
    if (file.status === 404) return (await findKeptFile(context)) ?? respondNotFound(context)
    if (!(file.headers.get("content-type") ?? "").startsWith("text/html")) return file
    return await addPolicy(context, file)
  })
pageRoutes.onError(errorToResponse)

/**
 * Returns a file of another version of the page; null if there is none. While two versions are deployed, a page of one
 * version can request its files from the other. SPEC DP10.
 */
async function findKeptFile(context: Context<AppEnv>): Promise<Response | null> {
  const { env, req } = context
  if (!req.path.startsWith("/assets/")) return null
  const { readKeptFile } = await import("./kept-page-files.ts")
  return await readKeptFile(env, req.path, readLimitAddress(context))
}

/**
 * Responds with a short page if a browser opens the URL, and with JSON otherwise. The response isn't cached, because
 * the next version may have the file.
 */
function respondNotFound(context: Context<AppEnv>): Response {
  const refusal = faultToResponse({ reason: "route_unknown" })
  if (!(context.req.header("accept") ?? "").includes("text/html")) return refusal
  return new Response(NOT_FOUND_PAGE, {
    status: refusal.status,
    headers: { "content-type": "text/html; charset=utf-8" },
  })
}

const NOT_FOUND_PAGE = `<!doctype html>
<html lang="en">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Not found · Cuecard</title>
<h1>There’s nothing at this address.</h1>
<p><a href="/">Open Cuecard</a></p>
`

/**
 * Removes conditional headers. A 304 would keep the old headers, but the policy may have changed even if the file has
 * not.
 */
function removeConditions(request: Request): Request {
  const headers = new Headers(request.headers)
  for (const name of ["if-none-match", "if-modified-since"]) headers.delete(name)
  return new Request(request, { headers })
}

/** The chat page, the only one with a service worker. */
const CHAT_PAGE = /^\/(?:index(?:\.html)?)?$/

/** The page that shows the widget in a frame on another site (SPEC WG4). */
const EMBED_PAGE = /^\/embed(?:\.html)?$/

async function addPolicy(
  { env, req }: Context<AppEnv>,
  file: Response,
  tenant = findPageTenant(env, new URL(req.url)),
): Promise<Response> {
  const url = new URL(req.url)
  const origins = { own: url.origin, canvas: getCanvasOrigin(env) }
  const isEmbedded = EMBED_PAGE.test(url.pathname)
  const parents = isEmbedded ? await listEmbedParents(env, url, getPageTenant(env, url)) : undefined
  const headers = new Headers(file.headers)
  const settings = await loadSettings(env, tenant)
  const hasWorker = CHAT_PAGE.test(url.pathname) && usesServiceWorker(env)
  const policies = createPageHeaders(origins, settings, { parents, hasWorker })
  for (const [name, value] of Object.entries(policies)) headers.set(name, value)
  // Without this header, a parent that is cross-origin isolated could not frame the page.
  if (isEmbedded) headers.set("cross-origin-resource-policy", "cross-origin")
  headers.delete("etag")
  const page = new Response(file.body, { status: file.status, headers })
  const theme = settings.theme === undefined ? null : themeToHeadJson(settings.theme)
  return fillHead(page, [
    // public/theme.js reads this value before the first paint. SPEC TH4.
    ["cuecard-theme", theme],
    // client/app/register-service-worker.ts reads this value. SPEC SW7.
    ["cuecard-service-worker", hasWorker ? "on" : null],
  ])
}

/** Sets the contents of `meta` elements. Null leaves the element as it is. */
function fillHead(page: Response, values: readonly (readonly [name: string, content: string | null])[]): Response {
  const set = values.filter(([, content]) => content !== null)
  if (set.length === 0) return page
  const rewriter = new HTMLRewriter()
  for (const [name, content] of set)
    rewriter.on(`meta[name="${name}"]`, { element: (meta) => void meta.setAttribute("content", content ?? "") })
  return rewriter.transform(page)
}

/**
 * Maximum number of tenants whose settings an isolate caches. With PAGE_DOMAIN, a deployment serves the pages of all
 * tenants.
 */
const MAX_CACHED_TENANTS = 1_000
const settingsCache = new FreshCache<PageSettings>(SETTINGS_FRESH_MS, MAX_CACHED_TENANTS)

/**
 * Loads the settings for a page. Without a tenant, or if the tenant's object fails, the page gets the deployment's
 * settings, because a page must load regardless.
 */
async function loadSettings(env: Env, tenant: string | null): Promise<PageSettings> {
  if (tenant === null) return readDeploymentSettings(env)
  try {
    return await settingsCache.getOrFetch(
      tenant,
      Date.now(),
      async () => await tenantStub(env, tenant).getPageSettings(),
    )
  } catch (error) {
    logError("settings_unknown", { error: describeError(error) })
    return readDeploymentSettings(env)
  }
}

function findPageTenant(env: Env, url: URL): string | null {
  return readEmbedTenant(env, url) ?? getPageTenant(env, url)
}

/** Returns the tenant that the URL of the widget's frame names; null for every other page. */
function readEmbedTenant(env: Env, url: URL): string | null {
  const tenant = EMBED_PAGE.test(url.pathname) ? url.searchParams.get("tenant") : null
  return tenant !== null && v.is(tenantIdSchema, tenant) && checkRegion(env, tenant).ok ? tenant : null
}

/** Makes new settings effective at once in this isolate. */
export function clearCachedSettings(tenant: string): void {
  settingsCache.delete(tenant)
}
