/**
 * media-routes.ts: what can be fetched, and for how long: `POST /:id/media/sign` of a session, and `GET /media/:id?token=`.
 *
 * page → sign → MEDIA → bucket → page
 * Segments hold addresses that nobody can fetch; the page has them signed when it draws. What is served here never runs:
 * its type is one of a closed list, it is not sniffed, and it is sandboxed. A canvas is not served here.
 */

import { Hono } from "hono"
import type { Context } from "hono"
import * as v from "valibot"
import { assetUrl, canvasUrl, type OwnUrl, parseOwnUrl } from "../../shared/protocol/asset-url.ts"
import type { SignResponse } from "../../shared/protocol/http-body.ts"
import { type Asset, idSchema } from "../../shared/protocol/event.ts"
import { MAX_SIGNED_URLS, MAX_URL_CHARS } from "../../shared/limits.ts"
import { checkPublicUrl } from "../../shared/text/public-url.ts"
import { assetObjectKey, readAssetMetadata } from "../asset/bucket.ts"
import { log } from "../platform/log.ts"
import { type LinkAudience, type LinkClaims, verifyLink, computeLinkExpiry, signLink } from "../auth/link-signing.ts"
import { type AppEnv, faultToResponse, readBody, getSessionStub } from "../platform/fault-response.ts"
import { formatContentRange, type ByteRange, parseRange, refuseRange } from "./byte-range.ts"

const signSchema = v.object({
  urls: v.pipe(v.array(v.pipe(v.string(), v.maxLength(MAX_URL_CHARS))), v.maxLength(MAX_SIGNED_URLS)),
})

export const mediaSigningRoutes = new Hono<AppEnv>()

mediaSigningRoutes.post("/:id/media/sign", async (context) => {
  const body = await readBody(context, signSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const claims = context.get("claims")
  const id = context.req.param("id")
  const session = getSessionStub(context.env, claims, id)
  if (session === null) return faultToResponse({ reason: "session_unknown" })
  const { urls } = body.value
  const ownUrls = urls.map(parseOwnUrl)
  const found = await session.findAssets(claims, [...new Set(ownUrls.flatMap((own) => own?.id ?? []))])
  if (!found.ok) return faultToResponse(found.fault)
  const kinds = new Map(found.value.flatMap((asset) => (asset === null ? [] : [[asset.id, asset.kind] as const])))
  const expires = computeLinkExpiry(Date.now())
  const sign: SignUrl = async (audience, path, what) => {
    const token = await signLink(context.env.JWT_SECRET ?? "", audience, {
      ...createSessionScope(claims, id),
      what,
      expires,
    })
    return `${path}?token=${token}`
  }
  const canvasOrigin = context.env.CANVAS_ORIGIN ?? ""
  const signed = await Promise.all(
    urls.map(async (url, i) => {
      const own = ownUrls[i] ?? null
      return {
        url,
        href: own === null ? await signRemoteUrl(url, sign) : await signOwnUrl(own, kinds, canvasOrigin, sign),
      }
    }),
  )
  return context.json({ signed, expires } satisfies SignResponse)
})

type SignUrl = (audience: LinkAudience, path: string, what: string) => Promise<string>

function createSessionScope({ tenant }: { readonly tenant: string }, session: string) {
  return { tenant, session }
}

/** A canvas is no medium, and a medium no canvas. */
async function signOwnUrl(
  { id, kind: urlKind }: OwnUrl,
  kinds: ReadonlyMap<string, Asset["kind"]>,
  canvasOrigin: string,
  sign: SignUrl,
): Promise<string | null> {
  const kind = kinds.get(id)
  if (kind === undefined || (kind === "canvas") !== (urlKind === "canvas")) return null
  if (urlKind === "asset") return await sign("media", assetUrl(id), id)
  return await sign("canvas", `${canvasOrigin}${canvasUrl(id)}`, id)
}

async function signRemoteUrl(url: string, sign: SignUrl): Promise<string | null> {
  const checked = checkPublicUrl(url)
  return checked.ok ? await sign("remote", "/media/remote", checked.value.href) : null
}

export const mediaRoutes = new Hono<AppEnv>()

/** HEAD comes here too: Hono takes it as a GET and leaves the body out. */
mediaRoutes.get("/:id", async (context, next) => {
  const id = context.req.param("id")
  // Not an id, but a route of its own.
  if (id === "remote") return await next()
  if (!v.is(idSchema, id)) return faultToResponse({ reason: "asset_unknown" })
  const token = context.req.query("token") ?? ""
  const claims = await verifyLink(context.env.JWT_SECRET ?? "", "media", token, Date.now())
  if (!claims.ok) return faultToResponse(claims.fault)
  if (claims.value.what !== id) return faultToResponse({ reason: "link_invalid" })
  try {
    return await serveAsset(context, claims.value)
  } catch (error) {
    log("asset_not_read", { message: error instanceof Error ? error.message : "unknown" })
    return faultToResponse({ reason: "asset_store_failed" })
  }
})

async function serveAsset(context: Context<AppEnv>, claims: LinkClaims): Promise<Response> {
  const bucket = context.env.MEDIA
  const key = assetObjectKey(claims, claims.what)
  const { method } = context.req
  const rangeHeader = context.req.header("range")
  const ifNoneMatch = context.req.header("if-none-match")
  // Only then it has to be known how large it is, or which, before it is read.
  const isHeadNeeded = method === "HEAD" || rangeHeader !== undefined || ifNoneMatch !== undefined
  const head = isHeadNeeded ? await bucket.head(key) : null
  if (isHeadNeeded && head === null) return faultToResponse({ reason: "asset_unknown" })
  if (head !== null) {
    const stored = createAssetHeaders(head, claims)
    if (stored === null) return faultToResponse({ reason: "asset_unknown" })
    if (ifNoneMatch !== undefined && isEtagMatch(ifNoneMatch, head.httpEtag))
      return new Response(null, { status: 304, headers: stored })
    if (method === "HEAD") return new Response(null, { headers: { ...stored, "content-length": String(head.size) } })
    const ifRange = context.req.header("if-range")
    if (rangeHeader !== undefined && (ifRange === undefined || ifRange === head.httpEtag)) {
      const range = parseRange(rangeHeader, head.size)
      if (!range.ok) return refuseRange(head.size)
      if (range.value !== null) return await serveRange(bucket, key, head, stored, range.value)
    }
  }
  const object = await bucket.get(key)
  const headers = object === null ? null : createAssetHeaders(object, claims)
  if (object === null || headers === null) return faultToResponse({ reason: "asset_unknown" })
  return new Response(object.body, { headers: { ...headers, "content-length": String(object.size) } })
}

async function serveRange(
  bucket: R2Bucket,
  key: string,
  { size }: R2Object,
  headers: Readonly<Record<string, string>>,
  range: ByteRange,
): Promise<Response> {
  const object = await bucket.get(key, { range })
  if (object === null) return faultToResponse({ reason: "asset_unknown" })
  return new Response(object.body, {
    status: 206,
    headers: { ...headers, "content-range": formatContentRange(range, size), "content-length": String(range.length) },
  })
}

function isEtagMatch(header: string, etag: string): boolean {
  return header.split(",").some((one) => one.trim() === "*" || one.trim().replace(/^W\//, "") === etag)
}

/** Types that a browser shows by itself; the rest is saved. */
const INLINE_KINDS: ReadonlySet<Asset["kind"]> = new Set(["image", "audio", "video"])

/** Null: it is nothing that is served here. */
function createAssetHeaders(object: R2Object, { expires }: LinkClaims): Readonly<Record<string, string>> | null {
  const stored = readAssetMetadata(object)
  if (stored === null || stored.kind === "canvas") return null
  const { kind, label } = stored
  const seconds = Math.max(0, Math.floor(expires - Date.now() / 1000))
  return {
    "content-type": stored.mime_type === "text/plain" ? "text/plain; charset=utf-8" : stored.mime_type,
    "content-disposition": `${INLINE_KINDS.has(kind) ? "inline" : "attachment"}; ${formatFilenameParameters(label)}`,
    "content-security-policy": "sandbox; default-src 'none'",
    "cross-origin-resource-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "cache-control": `private, max-age=${seconds}, immutable`,
    "accept-ranges": "bytes",
    etag: object.httpEtag,
  }
}

/** RFC 6266: a plain name for old programs, the true one beside it (RFC 5987). */
function formatFilenameParameters(label: string): string {
  // A file whose name begins with a point is not seen where it is saved.
  const name = label.replace(/^\./, "_")
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, "_")
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
  return `filename="${plain}"; filename*=UTF-8''${encoded}`
}
