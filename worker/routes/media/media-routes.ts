/**
 * media-routes.ts: signs links (`POST /:id/media/sign` of a session) and serves assets (`GET /media/:id?token=`).
 *
 * The URLs in segments cannot be fetched directly; the page requests signed ones when it renders them. Assets are
 * served so that a browser never runs them: with a type from a fixed list, no sniffing, and a sandbox. Canvas documents
 * are not served here.
 */

import type { Context } from "hono"
import * as v from "valibot"
import { type Result, succeed } from "../../../shared/fault.ts"
import { MAX_SIGNED_URLS } from "../../../shared/asset-limits.ts"
import { MAX_URL_CHARS } from "../../../shared/limits.ts"
import { assetUrl, canvasUrl, type OwnUrl, parseOwnUrl } from "../../../shared/protocol/asset-url.ts"
import { parseCardViewUrl, publicCardPath } from "../../../shared/protocol/cards/card-view-url.ts"
import { type Asset, idSchema } from "../../../shared/protocol/event.ts"
import type { SignResponse } from "../../../shared/protocol/http-body.ts"
import { checkPublicUrl } from "../../../shared/text/public-url.ts"
import { listLinkedKeys, readAssetMetadata } from "../../asset/bucket.ts"
import { computeLinkExpiry, type LinkAudience, type LinkClaims, signLink } from "../../auth/link-signing.ts"
import { splitCommaList } from "../../platform/comma-list.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { describeError, log } from "../../platform/log.ts"
import { mediaBucket } from "../../platform/media-bucket.ts"
import { type ByteRange, formatContentRange, parseRange, refuseRange } from "./byte-range.ts"
import { type AppEnv, readBody } from "../request-body.ts"
import { openLink } from "../access/open-link.ts"
import { requireSession } from "../access/require-session.ts"
import { createHono } from "../hono-app.ts"

const signSchema = v.object({
  urls: v.pipe(v.array(v.pipe(v.string(), v.maxLength(MAX_URL_CHARS))), v.maxLength(MAX_SIGNED_URLS)),
})

export const mediaSigningRoutes = createHono<AppEnv>()

mediaSigningRoutes.post("/:id/media/sign", requireSession, async (context) => {
  const body = await readBody(context, signSchema)
  if (!body.ok) return faultToResponse(body.fault)
  const { urls } = body.value
  const ownUrls = urls.map(parseOwnUrl)
  const assetIds = [...new Set(ownUrls.flatMap((own) => own?.id ?? []))]
  const found = await context.get("session").findAssets(context.get("claims"), assetIds)
  if (!found.ok) return faultToResponse(found.fault)
  const kinds = new Map(found.value.flatMap((asset) => (asset === null ? [] : [[asset.id, asset.kind] as const])))
  const expires = computeLinkExpiry(Date.now())
  const sign = createSigner(context, expires)
  const canvasOrigin = context.env.CANVAS_ORIGIN ?? ""
  const signed = await Promise.all(
    urls.map(async (url, i) => {
      const own = ownUrls[i] ?? null
      const card = parseCardViewUrl(url)
      if (card !== null) return { url, href: publicCardPath(context.get("claims").tenant, card) }
      const href = own === null ? await signRemoteUrl(url, sign) : await signOwnUrl(own, kinds, canvasOrigin, sign)
      return { url, href }
    }),
  )
  return context.json({ signed, expires } satisfies SignResponse)
})

/** Adds a token for `what` to the URL. */
type SignUrl<T extends LinkAudience = LinkAudience> = (audience: T, url: string, what: string) => Promise<string>

function createSigner(context: Context<AppEnv, "/:id/media/sign">, expires: number): SignUrl {
  const { tenant, user: self, sharedBy } = context.get("claims")
  const session = context.req.param("id")
  const owned = sharedBy === undefined ? { user: self } : { user: sharedBy, viewer: self }
  return async (audience, url, what) => {
    const token = await signLink(context.env.JWT_SECRET ?? "", audience, { tenant, session, ...owned, what, expires })
    return `${url}?token=${token}`
  }
}

/**
 * Signs one of our own URLs. Null if the asset doesn't exist, if a canvas is requested as media, or if any other asset
 * is requested as a canvas.
 */
export async function signOwnUrl(
  { id, kind: urlKind }: OwnUrl,
  kinds: ReadonlyMap<string, Asset["kind"]>,
  canvasOrigin: string,
  sign: SignUrl<"media" | "canvas">,
): Promise<string | null> {
  const kind = kinds.get(id)
  if (kind === undefined || (kind === "canvas") !== (urlKind === "canvas")) return null
  if (urlKind === "asset") return await sign("media", assetUrl(id), id)
  return await sign("canvas", canvasOrigin + canvasUrl(id), id)
}

/** Signs the URL of remote media; null if it is not a public https URL. */
async function signRemoteUrl(url: string, sign: SignUrl): Promise<string | null> {
  const checked = checkPublicUrl(url)
  return checked.ok ? await sign("remote", "/media/remote", checked.value.href) : null
}

export const mediaRoutes = createHono<AppEnv>().basePath("/media")

/** Also serves HEAD requests, which Hono routes to GET, dropping the body. */
mediaRoutes.get("/:id", async (context) => {
  const id = context.req.param("id")
  if (!v.is(idSchema, id)) return faultToResponse({ reason: "asset_unknown" })
  const claims = await openLink(context.env, "media", context.req.query("token") ?? "")
  if (!claims.ok) return faultToResponse(claims.fault)
  if (claims.value.what !== id) return faultToResponse({ reason: "link_invalid" })
  try {
    for (const key of listLinkedKeys(claims.value)) {
      const served = await serveAsset(context, claims.value, key)
      if (served !== null) return served
    }
    return faultToResponse({ reason: "asset_unknown" })
  } catch (error) {
    log("asset_not_read", { error: describeError(error) })
    return faultToResponse({ reason: "asset_store_failed" })
  }
})

/** Responds with the asset under this key; null if there is none. */
async function serveAsset(context: Context<AppEnv>, claims: LinkClaims, key: string): Promise<Response | null> {
  const bucket = mediaBucket(context.env, claims.tenant)
  const { method } = context.req
  const ifNoneMatch = context.req.header("if-none-match")
  // Only these requests need the size or the ETag before the body is read.
  if (method === "HEAD" || context.req.header("range") !== undefined || ifNoneMatch !== undefined) {
    const head = await bucket.head(key)
    const headers = head === null ? null : createAssetHeaders(head, claims)
    if (head === null || headers === null) return null
    if (ifNoneMatch !== undefined && isEtagMatch(ifNoneMatch, head.httpEtag))
      return new Response(null, { status: 304, headers })
    if (method === "HEAD") return new Response(null, { headers: { ...headers, "content-length": String(head.size) } })
    const range = parseAssetRange(context, head)
    if (!range.ok) return refuseRange(head.size)
    if (range.value !== null) return await serveRange(bucket, key, head, headers, range.value)
  }
  const object = await bucket.get(key)
  const headers = object === null ? null : createAssetHeaders(object, claims)
  if (object === null || headers === null) return null
  return new Response(object.body, { headers: { ...headers, "content-length": String(object.size) } })
}

/** Returns the requested range; null if there is none, or if If-Range names another version of the asset. */
function parseAssetRange({ req }: Context<AppEnv>, { httpEtag, size }: R2Object): Result<ByteRange | null> {
  const range = req.header("range")
  const ifRange = req.header("if-range")
  const isCurrent = ifRange === undefined || ifRange === httpEtag
  return range !== undefined && isCurrent ? parseRange(range, size) : succeed(null)
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
  return splitCommaList(header).some((entry) => entry === "*" || entry.replace(/^W\//, "") === etag)
}

/** Kinds that a browser displays. Other assets are downloaded. */
const INLINE_KINDS: ReadonlySet<Asset["kind"]> = new Set(["image", "audio", "video"])

/** Creates the headers of a response with this object; null if this route does not serve it. */
function createAssetHeaders(
  object: R2Object,
  { expires, viewer, isShare = false }: LinkClaims,
): Readonly<Record<string, string>> | null {
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
    // A viewer's browser must revalidate each time, because sharing may have ended.
    "cache-control": viewer === undefined && !isShare ? `private, max-age=${seconds}, immutable` : "private, no-cache",
    "accept-ranges": "bytes",
    etag: object.httpEtag,
  }
}

/**
 * Formats a file name as RFC 6266 specifies: an ASCII name for old clients, and the real name in the encoding of RFC
 * 5987.
 */
function formatFilenameParameters(label: string): string {
  // A file whose name begins with a dot would be hidden after the download.
  const name = label.replace(/^\./, "_")
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, "_")
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
  return `filename="${plain}"; filename*=UTF-8''${encoded}`
}
