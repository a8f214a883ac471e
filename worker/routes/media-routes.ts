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
import type { SignAnswer } from "../../shared/protocol/asset.ts"
import { type Asset, idSchema } from "../../shared/protocol/event.ts"
import { MAX_SIGNED_URLS, MAX_URL_CHARS } from "../../shared/limits.ts"
import { checkPublicUrl } from "../../shared/text/public-url.ts"
import { keyOf, storedAs } from "../asset/bucket.ts"
import { log } from "../platform/log.ts"
import { type Audience, type MediaClaims, readMedia, signedUntil, signMedia } from "../auth/link-signing.ts"
import { type App, answerFault, readBody, sessionOf } from "../platform/fault-response.ts"
import { contentRange, type Part, rangeIn, refuseRange } from "./byte-range.ts"

const signSchema = v.object({
  urls: v.pipe(v.array(v.pipe(v.string(), v.maxLength(MAX_URL_CHARS))), v.maxLength(MAX_SIGNED_URLS)),
})

export const signing = new Hono<App>()

signing.post("/:id/media/sign", async (context) => {
  const body = await readBody(context, signSchema)
  if (!body.ok) return answerFault(body.fault)
  const claims = context.get("claims")
  const id = context.req.param("id")
  const session = sessionOf(context.env, claims, id)
  if (session === null) return answerFault({ reason: "session_unknown" })
  const { urls } = body.value
  const named = urls.map(ownIn)
  const found = await session.findAssets(claims, [...new Set(named.flatMap((own) => own?.id ?? []))])
  if (!found.ok) return answerFault(found.fault)
  const kept = new Map(found.value.flatMap((asset) => (asset === null ? [] : [[asset.id, asset.kind] as const])))
  const expires = signedUntil(Date.now())
  const sign: Sign = async (audience, path, what) => {
    const token = await signMedia(context.env.JWT_SECRET ?? "", audience, { ...place(claims, id), what, expires })
    return `${path}?token=${token}`
  }
  const canvasOrigin = context.env.CANVAS_ORIGIN ?? ""
  const signed = await Promise.all(
    urls.map(async (url, i) => {
      const own = named[i] ?? null
      return { url, href: own === null ? await signRemote(url, sign) : await signOwn(own, kept, canvasOrigin, sign) }
    }),
  )
  return context.json({ signed, expires } satisfies SignAnswer)
})

type Sign = (audience: Audience, path: string, what: string) => Promise<string>

function place({ tenant }: { readonly tenant: string }, session: string) {
  return { tenant, session }
}

/** An address of our own, as segments have them; null: it is elsewhere, or nowhere. */
interface Own {
  readonly id: string
  readonly isCanvas: boolean
}

function ownIn(url: string): Own | null {
  const [, media, canvas] = /^\/(?:media\/([\w-]{1,64})|canvas\/documents\/([\w-]{1,64})\/index\.html)$/.exec(url) ?? []
  const id = media ?? canvas
  return id === undefined ? null : { id, isCanvas: canvas !== undefined }
}

/** A canvas is no medium, and a medium no canvas. */
async function signOwn(
  { id, isCanvas }: Own,
  kept: ReadonlyMap<string, Asset["kind"]>,
  canvasOrigin: string,
  sign: Sign,
): Promise<string | null> {
  const kind = kept.get(id)
  if (kind === undefined || (kind === "canvas") !== isCanvas) return null
  if (!isCanvas) return await sign("media", `/media/${id}`, id)
  return await sign("canvas", `${canvasOrigin}/canvas/documents/${id}/index.html`, id)
}

async function signRemote(url: string, sign: Sign): Promise<string | null> {
  const checked = checkPublicUrl(url)
  return checked.ok ? await sign("remote", "/media/remote", checked.value.href) : null
}

export const media = new Hono<App>()

/** HEAD comes here too: Hono takes it as a GET and leaves the body out. */
media.get("/:id", async (context, next) => {
  const id = context.req.param("id")
  // Not an id, but a route of its own.
  if (id === "remote") return await next()
  if (!v.is(idSchema, id)) return answerFault({ reason: "asset_unknown" })
  const token = context.req.query("token") ?? ""
  const claims = await readMedia(context.env.JWT_SECRET ?? "", "media", token, Date.now())
  if (!claims.ok) return answerFault(claims.fault)
  if (claims.value.what !== id) return answerFault({ reason: "link_invalid" })
  try {
    return await serve(context, claims.value)
  } catch (error) {
    log("asset_not_read", { message: error instanceof Error ? error.message : "unknown" })
    return answerFault({ reason: "asset_store_failed" })
  }
})

async function serve(context: Context<App>, claims: MediaClaims): Promise<Response> {
  const bucket = context.env.MEDIA
  const key = keyOf(claims, claims.what)
  const { method } = context.req
  const wanted = context.req.header("range")
  const known = context.req.header("if-none-match")
  // Only then it has to be known how large it is, or which, before it is read.
  const isAsked = method === "HEAD" || wanted !== undefined || known !== undefined
  const head = isAsked ? await bucket.head(key) : null
  if (isAsked && head === null) return answerFault({ reason: "asset_unknown" })
  if (head !== null) {
    const stored = headersOf(head, claims)
    if (stored === null) return answerFault({ reason: "asset_unknown" })
    if (known !== undefined && isKnown(known, head.httpEtag))
      return new Response(null, { status: 304, headers: stored })
    if (method === "HEAD") return new Response(null, { headers: { ...stored, "content-length": String(head.size) } })
    const ifRange = context.req.header("if-range")
    if (wanted !== undefined && (ifRange === undefined || ifRange === head.httpEtag)) {
      const range = rangeIn(wanted, head.size)
      if (!range.ok) return refuseRange(head.size)
      if (range.value !== null) return await servePart(bucket, key, head, stored, range.value)
    }
  }
  const object = await bucket.get(key)
  const headers = object === null ? null : headersOf(object, claims)
  if (object === null || headers === null) return answerFault({ reason: "asset_unknown" })
  return new Response(object.body, { headers: { ...headers, "content-length": String(object.size) } })
}

async function servePart(
  bucket: R2Bucket,
  key: string,
  { size }: R2Object,
  headers: Readonly<Record<string, string>>,
  range: Part,
): Promise<Response> {
  const object = await bucket.get(key, { range })
  if (object === null) return answerFault({ reason: "asset_unknown" })
  return new Response(object.body, {
    status: 206,
    headers: { ...headers, "content-range": contentRange(range, size), "content-length": String(range.length) },
  })
}

function isKnown(header: string, etag: string): boolean {
  return header.split(",").some((one) => one.trim() === "*" || one.trim().replace(/^W\//, "") === etag)
}

/** Types that a browser shows by itself; the rest is saved. */
const SHOWN: ReadonlySet<Asset["kind"]> = new Set(["image", "audio", "video"])

/** Null: it is nothing that is served here. */
function headersOf(object: R2Object, { expires }: MediaClaims): Readonly<Record<string, string>> | null {
  const stored = storedAs(object)
  if (stored === null || stored.kind === "canvas") return null
  const { kind, label } = stored
  const seconds = Math.max(0, Math.floor(expires - Date.now() / 1000))
  return {
    "content-type": stored.mime_type === "text/plain" ? "text/plain; charset=utf-8" : stored.mime_type,
    "content-disposition": `${SHOWN.has(kind) ? "inline" : "attachment"}; ${filenameOf(label)}`,
    "content-security-policy": "sandbox; default-src 'none'",
    "cross-origin-resource-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "cache-control": `private, max-age=${seconds}, immutable`,
    "accept-ranges": "bytes",
    etag: object.httpEtag,
  }
}

/** RFC 6266: a plain name for old programs, the true one beside it (RFC 5987). */
function filenameOf(label: string): string {
  // A file whose name begins with a point is not seen where it is saved.
  const name = label.replace(/^\./, "_")
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, "_")
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
  return `filename="${plain}"; filename*=UTF-8''${encoded}`
}
