/**
 * remote-media-routes.ts: `GET /media/remote?token=`: media of other hosts, which learn nothing of the reader.
 *
 * signed address → REMOTE → cache, or fetch → page
 * What is small and came whole is kept for a while for its tenant, and ranges are cut from that. Of what is large, or of
 * unknown length, a range is answered with all of it, as RFC 9110 lets a server do: players go on with that.
 */

import { type Context, Hono } from "hono"
import { succeed } from "../../shared/fault.ts"
import { MAX_REMOTE_CACHED_BYTES, REMOTE_FRESH_SECONDS } from "../../shared/limits.ts"
import type { Env } from "../env.ts"
import { bytesToHex } from "../platform/hex.ts"
import { type LinkClaims, verifyLink } from "../auth/link-signing.ts"
import { getTenantStub } from "../tenant/tenant-object.ts"
import { readTimeLimits } from "../platform/time-limits.ts"
import { type AppEnv, faultToResponse } from "../platform/fault-response.ts"
import { formatContentRange, type ByteRange, parseRange, refuseRange } from "./byte-range.ts"
import { fetchRemote, isOwnRequest, type RemoteMedia } from "./remote-fetch.ts"

export const remoteMediaRoutes = new Hono<AppEnv>().get("/", async (context) => {
  const { env, req } = context
  if (req.method !== "GET" || isOwnRequest(req.header("user-agent")))
    return faultToResponse({ reason: "route_unknown" })
  const claims = await verifyLink(env.JWT_SECRET ?? "", "remote", req.query("token") ?? "", Date.now())
  if (!claims.ok) return faultToResponse(claims.fault)
  const key = await createCacheKey(claims.value)
  const cached = await matchCache(key, req.header("range"))
  if (cached !== null) return withOwnHeaders(cached)
  const isHost = await createHostFilter(env, claims.value)
  const fetched = await fetchRemote(claims.value.what, readTimeLimits(env), isHost, env.MEDIA_UPSTREAM)
  if (!fetched.ok) return faultToResponse(fetched.fault)
  return await respondAndCache(context, key, fetched.value)
})

/**
 * Where redirects may lead. The reader asked for an address, wherever it leads; but nobody asked for one of a host that the
 * tenant loads without a click, and that host may lead to any other with whatever a model wrote in its address.
 */
async function createHostFilter(env: Env, { tenant, what }: LinkClaims): Promise<(host: string) => boolean> {
  const { media_hosts } = await getTenantStub(env, tenant).getSettings()
  const isAutoLoaded = URL.canParse(what) && media_hosts.includes(new URL(what).hostname)
  return (host) => !isAutoLoaded || media_hosts.includes(host)
}

/** Of this tenant alone: whether another one's reader looked at it is not to be told from its speed. */
async function createCacheKey({ tenant, what }: LinkClaims): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(what))
  return `https://media.invalid/${tenant}/${bytesToHex(digest)}`
}

/** A cache that fails is none. It cuts one range of bytes by itself; of one that is not there it has nothing. */
async function matchCache(key: string, range?: string): Promise<Response | null> {
  const headers = range !== undefined && /^bytes=\d*-\d*$/.test(range) ? { range } : undefined
  try {
    const cached = await caches.default.match(new Request(key, headers === undefined ? {} : { headers }))
    return cached?.ok === true ? cached : null
  } catch {
    return null
  }
}

/** As it comes, and kept on the way where it is small; cut where a player asks for a part, and that can be done. */
async function respondAndCache(context: Context<AppEnv>, key: string, remote: RemoteMedia): Promise<Response> {
  const { type, size, body } = remote
  if (size === null) return withOwnHeaders(new Response(body, { headers: { "content-type": type.mime_type } }), false)
  const fullRange: ByteRange = { offset: 0, length: size }
  const isCacheable = size <= MAX_REMOTE_CACHED_BYTES
  const range = isCacheable && type.kind !== "image" ? context.req.header("range") : undefined
  const wanted = range === undefined ? succeed(null) : parseRange(range, size)
  if (!wanted.ok) {
    await body.cancel()
    return refuseRange(size)
  }
  const part = wanted.value
  if (part !== null && part.length < size) return await cacheAndSlice(key, remote, size, part)
  // Players begin by asking for all of it as a range: they have it while it comes.
  const answer = createMediaResponse(
    body.pipeThrough(new FixedLengthStream(size)),
    type,
    fullRange,
    part === null ? null : size,
  )
  if (!isCacheable) return withOwnHeaders(answer, false)
  const copy = answer.clone()
  // What breaks off is fetched anew by the next reader.
  context.executionCtx.waitUntil(
    copy.arrayBuffer().then(
      (bytes) => putInCache(key, bytes, type),
      () => {},
    ),
  )
  return withOwnHeaders(answer)
}

/** `size`: of the whole, where it is answered as a range; else null. */
function createMediaResponse(
  body: BodyInit,
  { mime_type }: RemoteMedia["type"],
  part: ByteRange,
  size: number | null,
): Response {
  const headers = { "content-type": mime_type, "content-length": String(part.length) }
  if (size === null) return new Response(body, { headers })
  return new Response(body, { status: 206, headers: { ...headers, "content-range": formatContentRange(part, size) } })
}

/** From the bytes at hand, whether a cache keeps them or not. */
async function cacheAndSlice(
  key: string,
  { type, body }: RemoteMedia,
  size: number,
  part: ByteRange,
): Promise<Response> {
  const bytes = await new Response(body).arrayBuffer().catch(() => null)
  if (bytes === null) return faultToResponse({ reason: "remote_refused", because: "unreachable" })
  // The player's next question comes at once: it is to find it there.
  await putInCache(key, bytes, type)
  return withOwnHeaders(createMediaResponse(bytes.slice(part.offset, part.offset + part.length), type, part, size))
}

/** Only what came whole: some caches also keep what breaks off. So it stands in memory until then. A full cache is none. */
async function putInCache(key: string, bytes: ArrayBuffer, { mime_type }: RemoteMedia["type"]): Promise<void> {
  const headers = {
    "content-type": mime_type,
    "content-length": String(bytes.byteLength),
    "cache-control": `public, max-age=${REMOTE_FRESH_SECONDS}`,
  }
  await caches.default.put(key, new Response(bytes, { headers })).catch(() => {})
}

/** Headers of our own about it: nothing that the other side says comes through. `isCut`: ranges are answered with ranges. */
function withOwnHeaders(from: Response, isRangeable = true): Response {
  const headers = new Headers({
    "content-disposition": "inline",
    "content-security-policy": "sandbox; default-src 'none'",
    "cross-origin-resource-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "cache-control": `private, max-age=${REMOTE_FRESH_SECONDS}`,
  })
  for (const name of ["content-type", "content-length", "content-range"]) {
    const value = from.headers.get(name)
    if (value !== null) headers.set(name, value)
  }
  if (isRangeable) headers.set("accept-ranges", "bytes")
  return new Response(from.body, { status: from.status, headers })
}
