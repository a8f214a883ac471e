/**
 * canvas-routes.ts: documents that a model wrote, for the frames of the page and for nothing else.
 *
 * signed address → CANVAS → bucket → sealed document
 * Where the deployment has an origin for them, they are served there alone, and that origin serves nothing else.
 */

import { type Context, Hono, type MiddlewareHandler } from "hono"
import { CANVAS_PATH } from "../../shared/protocol/asset-url.ts"
import { type Fault, fail, faultToWire, type Result, succeed } from "../../shared/fault.ts"
import { parseAllowedOrigins, getCanvasOrigin, type Env } from "../env.ts"
import { assetObjectKey } from "../asset/bucket.ts"
import { verifyLink } from "../auth/link-signing.ts"
import { type AppEnv, faultToResponse } from "../platform/fault-response.ts"
import { UNAVAILABLE_DOCUMENT, hardenDocument } from "./canvas-document.ts"
import { createDocumentHeaders, isPlainOrigin } from "./content-policy.ts"

export const canvasRoutes = new Hono<AppEnv>().get("/:id/index.html", async (context) => {
  const { env, req } = context
  const found = await loadDocument(env, req.param("id"), req.query("token") ?? "")
  if (!found.ok) return refuseDocument(context, found.fault)
  // Alone in a tab nothing would bound where it sends itself: the page's policy does.
  if (!isFrameRequest(req.header("sec-fetch-dest"))) return refuseDocument(context, { reason: "link_invalid" })
  return new Response(hardenDocument(found.value), { headers: createDocumentHeaders(listFrameAncestors(env)) })
})

/** Browsers that do not say are old ones; what they ask for is judged by the frame's own policy. */
function isFrameRequest(destination = "iframe"): boolean {
  return destination === "iframe"
}

async function loadDocument(env: Env, id: string, token: string): Promise<Result<string>> {
  const read = await verifyLink(env.JWT_SECRET ?? "", "canvas", token, Date.now())
  if (!read.ok) return read
  const { tenant, session, what } = read.value
  if (what !== id) return fail({ reason: "link_invalid" })
  try {
    const object = await env.MEDIA.get(assetObjectKey({ tenant, session }, id))
    // What somebody uploaded is never a document.
    if (object?.customMetadata?.["kind"] !== "canvas") return fail({ reason: "asset_unknown" })
    return succeed(await object.text())
  } catch (error) {
    console.error(JSON.stringify({ event: "canvas_unread", message: String(error) }))
    return fail({ reason: "asset_store_failed" })
  }
}

/** A frame shows words rather than a browser's own error; anybody else gets the fault. */
function refuseDocument({ env, req }: Context<AppEnv>, fault: Fault): Response {
  if (req.header("sec-fetch-dest") !== "iframe") return faultToResponse(fault)
  return new Response(UNAVAILABLE_DOCUMENT, {
    status: faultToWire(fault).status,
    headers: createDocumentHeaders(listFrameAncestors(env)),
  })
}

/** The pages that may frame them: ours, and those that may call us. */
function listFrameAncestors(env: Env): readonly string[] {
  const pageOrigin = getCanvasOrigin(env) === null ? "'self'" : (env.PAGE_ORIGIN ?? "'none'")
  return [pageOrigin, ...parseAllowedOrigins(env).filter(isPlainOrigin)]
}

/** Before all routes: the origin of documents serves documents, and no other one does where there is one. */
export const isolateCanvasOrigin: MiddlewareHandler<AppEnv> = async (context, next) => {
  const origin = getCanvasOrigin(context.env)
  const { origin: requestOrigin, pathname } = new URL(context.req.url)
  const isDocument = pathname.startsWith(CANVAS_PATH)
  if (origin !== null && isDocument !== (requestOrigin === origin)) return faultToResponse({ reason: "route_unknown" })
  return await next()
}
