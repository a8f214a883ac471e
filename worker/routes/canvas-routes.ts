/**
 * canvas-routes.ts: documents that a model wrote, for the frames of the page and for nothing else.
 *
 * signed address → CANVAS → bucket → sealed document
 * Where the deployment has an origin for them, they are served there alone, and that origin serves nothing else.
 */

import { type Context, Hono, type MiddlewareHandler } from "hono"
import { type Fault, fail, faultToWire, type Result, succeed } from "../../shared/fault.ts"
import { allowedOrigins, canvasOrigin, type Env } from "../env.ts"
import { keyOf } from "../asset/bucket.ts"
import { readMedia } from "../auth/link-signing.ts"
import { type App, answerFault } from "../platform/fault-response.ts"
import { GONE, sealDocument } from "./canvas-document.ts"
import { CANVAS_PATH, documentHeaders, isPlain } from "./content-policy.ts"

export const canvas = new Hono<App>().get("/:id/index.html", async (context) => {
  const { env, req } = context
  const found = await documentOf(env, req.param("id"), req.query("token") ?? "")
  if (!found.ok) return refuse(context, found.fault)
  // Alone in a tab nothing would bound where it sends itself: the page's policy does.
  if (!isFramed(req.header("sec-fetch-dest"))) return refuse(context, { reason: "link_invalid" })
  return new Response(sealDocument(found.value), { headers: documentHeaders(ancestorsOf(env)) })
})

/** Browsers that do not say are old ones; what they ask for is judged by the frame's own policy. */
function isFramed(destination = "iframe"): boolean {
  return destination === "iframe"
}

async function documentOf(env: Env, id: string, token: string): Promise<Result<string>> {
  const read = await readMedia(env.JWT_SECRET ?? "", "canvas", token, Date.now())
  if (!read.ok) return read
  const { tenant, session, what } = read.value
  if (what !== id) return fail({ reason: "link_invalid" })
  try {
    const object = await env.MEDIA.get(keyOf({ tenant, session }, id))
    // What somebody uploaded is never a document.
    if (object?.customMetadata?.["kind"] !== "canvas") return fail({ reason: "asset_unknown" })
    return succeed(await object.text())
  } catch (error) {
    console.error(JSON.stringify({ event: "canvas_unread", message: String(error) }))
    return fail({ reason: "asset_store_failed" })
  }
}

/** A frame shows words rather than a browser's own error; anybody else gets the fault. */
function refuse({ env, req }: Context<App>, fault: Fault): Response {
  if (req.header("sec-fetch-dest") !== "iframe") return answerFault(fault)
  return new Response(GONE, { status: faultToWire(fault).status, headers: documentHeaders(ancestorsOf(env)) })
}

/** The pages that may frame them: ours, and those that may call us. */
function ancestorsOf(env: Env): readonly string[] {
  const ours = canvasOrigin(env) === null ? "'self'" : (env.PAGE_ORIGIN ?? "'none'")
  return [ours, ...allowedOrigins(env).filter(isPlain)]
}

/** Before all routes: the origin of documents serves documents, and no other one does where there is one. */
export const keepCanvasApart: MiddlewareHandler<App> = async (context, next) => {
  const origin = canvasOrigin(context.env)
  const { origin: asked, pathname } = new URL(context.req.url)
  const isDocument = pathname.startsWith(CANVAS_PATH)
  if (origin !== null && isDocument !== (asked === origin)) return answerFault({ reason: "route_unknown" })
  return await next()
}
