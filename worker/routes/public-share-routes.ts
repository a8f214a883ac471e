/**
 * public-share-routes.ts: serves shared copies to anyone with the link: the page, the messages, and signed links to
 * their files. Loaded on demand.
 *
 * A copy never changes, but it can be deleted at any time, so browsers must revalidate it.
 */

import type { Context } from "hono"
import * as v from "valibot"
import { MAX_SIGNED_URLS } from "../../shared/asset-limits.ts"
import { MAX_URL_CHARS } from "../../shared/limits.ts"
import { parseOwnUrl } from "../../shared/protocol/asset-url.ts"
import { parseCardViewUrl, publicCardPath } from "../../shared/protocol/cards/card-view-url.ts"
import type { SignResponse } from "../../shared/protocol/http-body.ts"
import { computeLinkExpiry, signLink } from "../auth/link-signing.ts"
import { faultToResponse } from "../platform/fault-response.ts"
import { mediaBucket } from "../platform/media-bucket.ts"
import { copyPageKey } from "../shared-copy/copy-objects.ts"
import { type OpenedShare, openShare } from "./access/open-share.ts"
import { errorToResponse } from "./access/report-request.ts"
import { readLimitAddress } from "./access/request-actor.ts"
import { receiveHandover } from "./hand-over.ts"
import { signOwnUrl } from "./media/media-routes.ts"
import { type AppEnv, readBody, readQuery } from "./request-body.ts"
import { decimalSchema } from "./session-fields.ts"
import { createHono } from "./hono-app.ts"

const pageSchema = v.object({ page: v.optional(v.pipe(decimalSchema, v.minValue(1)), "1") })

const signSchema = v.object({
  urls: v.pipe(v.array(v.pipe(v.string(), v.maxLength(MAX_URL_CHARS))), v.maxLength(MAX_SIGNED_URLS)),
})

export const publicShareRoutes = createHono<AppEnv>().use("*", receiveHandover)

publicShareRoutes.get("/v1/shares/:share", async (context) => {
  const query = readQuery(context, pageSchema)
  if (!query.ok) return faultToResponse(query.fault)
  const opened = await openShare(context.env, context.req.param("share"), readLimitAddress(context))
  if (!opened.ok) return faultToResponse(opened.fault)
  return await servePage(context, opened.value, query.value.page)
})

async function servePage(context: Context<AppEnv>, opened: OpenedShare, n: number): Promise<Response> {
  const { tenant, id, manifest } = opened
  const { title, created, author, pages } = manifest
  const etag = `"${id}-${n}"`
  const headers = { "cache-control": "private, no-cache", "x-robots-tag": "noindex", etag }
  if (n > pages) return faultToResponse({ reason: "share_unknown" })
  if (context.req.header("if-none-match") === etag) return new Response(null, { status: 304, headers })
  const page = await mediaBucket(context.env, tenant).get(copyPageKey(tenant, id, n))
  if (page === null) return faultToResponse({ reason: "share_unknown" })
  const head = JSON.stringify({ title, created, author, next: n < pages ? n + 1 : null })
  // The page of messages is already JSON text, so it is not parsed again.
  const body = `${head.slice(0, -1)},"messages":${await page.text()}}`
  return new Response(body, { headers: { ...headers, "content-type": "application/json" } })
}

publicShareRoutes.post("/v1/shares/:share/media/sign", async (context) => {
  const body = await readBody(context, signSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const { env } = context
  const opened = await openShare(env, context.req.param("share"), readLimitAddress(context))
  if (!opened.ok) return faultToResponse(opened.fault)
  const { tenant, id: session, manifest } = opened.value
  const kinds = new Map(Object.entries(manifest.assets))
  const expires = computeLinkExpiry(Date.now())
  const sign = async (audience: "media" | "canvas", url: string, what: string): Promise<string> => {
    const claims = { tenant, session, what, expires }
    return `${url}?token=${await signLink(env.JWT_SECRET ?? "", `share-${audience}`, claims)}`
  }
  const signed = await Promise.all(
    body.value.urls.map(async (url) => {
      const own = parseOwnUrl(url)
      const card = parseCardViewUrl(url)
      if (card !== null) return { url, href: publicCardPath(tenant, card) }
      // Media from other hosts is not fetched for readers without a token. Otherwise, anybody could use the server as a
      // proxy.
      return { url, href: own === null ? null : await signOwnUrl(own, kinds, env.CANVAS_ORIGIN ?? "", sign) }
    }),
  )
  return context.json({ signed, expires } satisfies SignResponse)
})

publicShareRoutes.notFound(() => faultToResponse({ reason: "route_unknown" }))
publicShareRoutes.onError(errorToResponse)
