/**
 * canvas-routes.ts: serves HTML documents written by a model, only in frames of the page.
 *
 * A deployment can give them a separate origin (access/request-guard.ts). Loaded on the first request for a document.
 */

import type { Context } from "hono"
import { type Fault, fail, faultToWire, type Result, succeed } from "../../../shared/fault.ts"
import { CANVAS_PATH } from "../../../shared/protocol/asset-url.ts"
import { isApp } from "../../../shared/protocol/asset.ts"
import { listLinkedKeys, readAssetMetadata } from "../../asset/bucket.ts"
import { type Env, getCanvasOrigin, parseAllowedOrigins } from "../../env.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { describeError, logError } from "../../platform/log.ts"
import { mediaBucket } from "../../platform/media-bucket.ts"
import { isPlainOrigin } from "../../platform/origin.ts"
import { hardenDocument, UNAVAILABLE_DOCUMENT } from "./canvas-document.ts"
import { errorToResponse } from "../access/report-request.ts"
import { createDocumentHeaders } from "./content-policy.ts"
import { loadEmbedHosts, readLinkTenant } from "../access/embed-access.ts"
import { openLink } from "../access/open-link.ts"
import type { AppEnv } from "../request-body.ts"
import { createHono } from "../hono-app.ts"

export const canvasRoutes = createHono<AppEnv>().get(`${CANVAS_PATH}:id/index.html`, async (context) => {
  const { env, req } = context
  const token = req.query("token") ?? ""
  const found = await loadDocument(env, req.param("id"), token)
  if (!found.ok) return refuseDocument(context, found.fault)
  // In a separate tab, the document could navigate anywhere. In a frame, the page's policy restricts it.
  if (!isFrameRequest(req.header("sec-fetch-dest"))) return refuseDocument(context, { reason: "link_invalid" })
  const ancestors = await listFrameAncestors(env, readLinkTenant(token))
  const { text, isApp } = found.value
  if (!isApp) return new Response(hardenDocument(text), { headers: createDocumentHeaders(ancestors) })
  const { createAppResponse } = await import("./app-frame.ts")
  const response = await createAppResponse(env, readLinkTenant(token), text, ancestors)
  return response ?? refuseDocument(context, { reason: "asset_unknown" })
})

canvasRoutes.notFound(() => faultToResponse({ reason: "route_unknown" }))
canvasRoutes.onError(errorToResponse)

/**
 * Whether the document is requested for a frame. Old browsers don't send the header, so their requests are accepted; in
 * those browsers, only the document's own policy restricts the document.
 */
function isFrameRequest(destination = "iframe"): boolean {
  return destination === "iframe"
}

interface StoredDocument {
  readonly text: string
  /** Whether the document is an MCP App. */
  readonly isApp: boolean
}

async function loadDocument(env: Env, id: string, token: string): Promise<Result<StoredDocument>> {
  const link = await openLink(env, "canvas", token)
  if (!link.ok) return link
  if (link.value.what !== id) return fail({ reason: "link_invalid" })
  try {
    for (const key of listLinkedKeys(link.value)) {
      const object = await mediaBucket(env, link.value.tenant).get(key)
      // An uploaded file is never served as a document.
      if (object?.customMetadata?.["kind"] !== "canvas") continue
      const stored = readAssetMetadata(object)
      return succeed({ text: await object.text(), isApp: stored !== null && isApp(stored) })
    }
    return fail({ reason: "asset_unknown" })
  } catch (error) {
    logError("canvas_unread", { error: describeError(error) })
    return fail({ reason: "asset_store_failed" })
  }
}

/**
 * Creates the response for a fault. A frame gets a readable document instead of the browser's error page. Any other
 * request gets the fault.
 */
async function refuseDocument({ env, req }: Context<AppEnv>, fault: Fault): Promise<Response> {
  if (req.header("sec-fetch-dest") !== "iframe") return faultToResponse(fault)
  // The tenant that a link with an invalid signature names can't be trusted.
  const tenant = fault.reason === "link_invalid" ? null : readLinkTenant(req.query("token") ?? "")
  return new Response(UNAVAILABLE_DOCUMENT, {
    status: faultToWire(fault).status,
    headers: createDocumentHeaders(await listFrameAncestors(env, tenant)),
  })
}

/**
 * Returns the origins whose pages may frame documents: the page's own, those of ALLOWED_ORIGINS, and the sites that
 * show the tenant's widget.
 */
async function listFrameAncestors(env: Env, tenant: string | null): Promise<readonly string[]> {
  const pageOrigin = getCanvasOrigin(env) === null ? "'self'" : (env.PAGE_ORIGIN ?? listPageHosts(env))
  const hosts = tenant === null ? [] : await loadEmbedHosts(env, tenant)
  return [pageOrigin, ...parseAllowedOrigins(env).filter(isPlainOrigin), ...hosts]
}

/** Returns the hosts of all tenants' pages, in the form of a policy source. */
function listPageHosts({ PAGE_DOMAIN, ENVIRONMENT }: Env): string {
  if (PAGE_DOMAIN === undefined) return "'none'"
  return ENVIRONMENT === "local" ? `http://*.${PAGE_DOMAIN}:*` : `https://*.${PAGE_DOMAIN}`
}
