/**
 * remote-media-routes.ts: `GET /media/remote?token=`: proxies media from other hosts, so that they learn nothing about
 * the user.
 *
 * Small files are cached per tenant once they are complete, and ranges are cut from them. A range request for a large
 * file, or for a file of unknown length, is answered with the whole file, as RFC 9110 permits; players accept that.
 */

import type { Context } from "hono"
import { base64url } from "jose"
import { succeed } from "../../../shared/fault.ts"
import { MAX_REMOTE_CACHED_BYTES, REMOTE_FRESH_SECONDS } from "../../../shared/asset-limits.ts"
import type { Env } from "../../env.ts"
import type { LinkClaims } from "../../auth/link-signing.ts"
import { readTimeLimits } from "../../platform/time-limits.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { formatContentRange, type ByteRange, parseRange, refuseRange } from "./byte-range.ts"
import { fetchRemote, isOwnRequest, type RemoteMedia } from "./remote-fetch.ts"
import { openLink } from "../access/open-link.ts"
import { directoryStub, tenantStub } from "../../platform/rpc/object-stubs.ts"
import type { AppEnv } from "../request-body.ts"

export async function serveRemoteMedia(context: Context<AppEnv>): Promise<Response> {
  const { env, req } = context
  if (req.method !== "GET" || isOwnRequest(req.header("user-agent")))
    return faultToResponse({ reason: "route_unknown" })
  const claims = await openLink(env, "remote", req.query("token") ?? "")
  if (!claims.ok) return faultToResponse(claims.fault)
  const key = await createCacheKey(claims.value)
  const cached = await matchCache(key, req.header("range"))
  if (cached !== null) return withOwnHeaders(cached)
  const { tenant, user, viewer = user } = claims.value
  // Links from version 0.1.0 don't name a user. These links expire within an hour after an update.
  const counted =
    viewer === undefined ? succeed(null) : await directoryStub(env, { tenant, user: viewer }).countRemoteFetch()
  if (!counted.ok) return faultToResponse(counted.fault)
  const isAllowedHost = await createHostFilter(env, claims.value)
  const fetched = await fetchRemote(claims.value.what, readTimeLimits(env), isAllowedHost, env.MEDIA_UPSTREAM)
  if (!fetched.ok) return faultToResponse(fetched.fault)
  return await respondAndCache(context, key, fetched.value)
}

/**
 * Decides to which hosts redirects may lead. If the user clicked to load the URL, every host is allowed. A URL that is
 * loaded without a click may only redirect to allowed hosts. Otherwise, an open redirect could send data that a model
 * wrote into the URL to any host.
 */
async function createHostFilter(env: Env, { tenant, what }: LinkClaims): Promise<(host: string) => boolean> {
  const { media_hosts } = await tenantStub(env, tenant).getSettings()
  const isAutoLoaded = URL.canParse(what) && media_hosts.includes(new URL(what).hostname)
  return (host) => !isAutoLoaded || media_hosts.includes(host)
}

/**
 * Creates a cache key, which differs per tenant, so that response times do not reveal which media users of another
 * tenant have loaded.
 */
async function createCacheKey({ tenant, what }: LinkClaims): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(what))
  return `https://media.invalid/${tenant}/${base64url.encode(new Uint8Array(digest))}`
}

/**
 * Looks up a file in the cache, which cuts single ranges itself and misses if the range is invalid. A cache error is
 * treated as a miss.
 */
async function matchCache(key: string, range?: string): Promise<Response | null> {
  const headers = range !== undefined && /^bytes=\d*-\d*$/.test(range) ? { range } : undefined
  try {
    const cached = await caches.default.match(new Request(key, headers === undefined ? {} : { headers }))
    return cached?.ok === true ? cached : null
  } catch {
    return null
  }
}

/**
 * Streams the file, and caches it at the same time if it is small. Responds with only a range if the whole file fits in
 * memory.
 */
async function respondAndCache(context: Context<AppEnv>, key: string, remote: RemoteMedia): Promise<Response> {
  const { type, size, body } = remote
  if (size === null) return withOwnHeaders(new Response(body, { headers: { "content-type": type.mime_type } }), false)
  const isCacheable = size <= MAX_REMOTE_CACHED_BYTES
  const range = isCacheable && type.kind !== "image" ? context.req.header("range") : undefined
  const requested = range === undefined ? succeed(null) : parseRange(range, size)
  if (!requested.ok) {
    await body.cancel()
    return refuseRange(size)
  }
  const part = requested.value
  if (part !== null && part.length < size) return await cacheAndSlice(key, remote, size, part)
  // A player first requests the whole file as a range. The response to that request is streamed.
  const stream = body.pipeThrough(new FixedLengthStream(size))
  const response = createMediaResponse(stream, type, { offset: 0, length: size }, part === null ? null : size)
  if (!isCacheable) return withOwnHeaders(response, false)
  context.executionCtx.waitUntil(cacheCopy(key, response.clone(), type))
  return withOwnHeaders(response)
}

/**
 * Creates the response with this body. `size` is the size of the whole file if this is the response to a range request;
 * otherwise null.
 */
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

/** Reads the whole file, caches it, and responds with a range of it. */
async function cacheAndSlice(
  key: string,
  { type, body }: RemoteMedia,
  size: number,
  part: ByteRange,
): Promise<Response> {
  const bytes = await new Response(body).arrayBuffer().catch(() => null)
  if (bytes === null) return faultToResponse({ reason: "remote_refused", because: "unreachable" })
  // Waits for the cache, because the player requests the next range at once.
  await putInCache(key, bytes, type)
  return withOwnHeaders(createMediaResponse(bytes.slice(part.offset, part.offset + part.length), type, part, size))
}

/** Caches a copy unless it is truncated. After a truncated copy, the next request fetches the file again. */
async function cacheCopy(key: string, copy: Response, type: RemoteMedia["type"]): Promise<void> {
  const bytes = await copy.arrayBuffer().catch(() => null)
  if (bytes !== null) await putInCache(key, bytes, type)
}

/** Caches a complete file. It is buffered in memory first, because some caches also store truncated streams. */
async function putInCache(key: string, bytes: ArrayBuffer, { mime_type }: RemoteMedia["type"]): Promise<void> {
  const headers = {
    "content-type": mime_type,
    "content-length": String(bytes.byteLength),
    "cache-control": `public, max-age=${REMOTE_FRESH_SECONDS}`,
  }
  await caches.default.put(key, new Response(bytes, { headers })).catch(() => {})
}

/** Replaces all headers with our own. `isRangeable`: whether range requests for this file get ranges. */
function withOwnHeaders(response: Response, isRangeable = true): Response {
  const headers = new Headers({
    "content-disposition": "inline",
    "content-security-policy": "sandbox; default-src 'none'",
    "cross-origin-resource-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "cache-control": `private, max-age=${REMOTE_FRESH_SECONDS}`,
  })
  for (const name of ["content-type", "content-length", "content-range"]) {
    const value = response.headers.get(name)
    if (value !== null) headers.set(name, value)
  }
  if (isRangeable) headers.set("accept-ranges", "bytes")
  return new Response(response.body, { status: response.status, headers })
}
