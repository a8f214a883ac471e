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
import { toHex } from "../platform/hex.ts"
import { type MediaClaims, readMedia } from "../auth/link-signing.ts"
import { tenantOf } from "../tenant/tenant-object.ts"
import { timesFor } from "../platform/time-limits.ts"
import { type App, answerFault } from "../platform/fault-response.ts"
import { contentRange, type Part, rangeIn, refuseRange } from "./byte-range.ts"
import { fetchRemote, isOurs, type Remote } from "./remote-fetch.ts"

export const remote = new Hono<App>().get("/", async (context) => {
  const { env, req } = context
  if (req.method !== "GET" || isOurs(req.header("user-agent"))) return answerFault({ reason: "route_unknown" })
  const claims = await readMedia(env.JWT_SECRET ?? "", "remote", req.query("token") ?? "", Date.now())
  if (!claims.ok) return answerFault(claims.fault)
  const key = await cacheKey(claims.value)
  const kept = await match(key, req.header("range"))
  if (kept !== null) return asOurs(kept)
  const isHost = await hostsFor(env, claims.value)
  const fetched = await fetchRemote(claims.value.what, timesFor(env), isHost, env.MEDIA_UPSTREAM)
  if (!fetched.ok) return answerFault(fetched.fault)
  return await keep(context, key, fetched.value)
})

/**
 * Where redirects may lead. The reader asked for an address, wherever it leads; but nobody asked for one of a host that the
 * tenant loads without a click, and that host may lead to any other with whatever a model wrote in its address.
 */
async function hostsFor(env: Env, { tenant, what }: MediaClaims): Promise<(host: string) => boolean> {
  const { media_hosts } = await tenantOf(env, tenant).settings()
  const isUnasked = URL.canParse(what) && media_hosts.includes(new URL(what).hostname)
  return (host) => !isUnasked || media_hosts.includes(host)
}

/** Of this tenant alone: whether another one's reader looked at it is not to be told from its speed. */
async function cacheKey({ tenant, what }: MediaClaims): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(what))
  return `https://media.invalid/${tenant}/${toHex(digest)}`
}

/** A cache that fails is none. It cuts one range of bytes by itself; of one that is not there it has nothing. */
async function match(key: string, range?: string): Promise<Response | null> {
  const headers = range !== undefined && /^bytes=\d*-\d*$/.test(range) ? { range } : undefined
  try {
    const kept = await caches.default.match(new Request(key, headers === undefined ? {} : { headers }))
    return kept?.ok === true ? kept : null
  } catch {
    return null
  }
}

/** As it comes, and kept on the way where it is small; cut where a player asks for a part, and that can be done. */
async function keep(context: Context<App>, key: string, remote: Remote): Promise<Response> {
  const { type, size, body } = remote
  if (size === null) return asOurs(new Response(body, { headers: { "content-type": type.mime_type } }), false)
  const whole: Part = { offset: 0, length: size }
  const isKept = size <= MAX_REMOTE_CACHED_BYTES
  const range = isKept && type.kind !== "image" ? context.req.header("range") : undefined
  const wanted = range === undefined ? succeed(null) : rangeIn(range, size)
  if (!wanted.ok) {
    await body.cancel()
    return refuseRange(size)
  }
  const part = wanted.value
  if (part !== null && part.length < size) return await keepAndCut(key, remote, size, part)
  // Players begin by asking for all of it as a range: they have it while it comes.
  const answer = answerOf(body.pipeThrough(new FixedLengthStream(size)), type, whole, part === null ? null : size)
  if (!isKept) return asOurs(answer, false)
  const copy = answer.clone()
  // What breaks off is fetched anew by the next reader.
  context.executionCtx.waitUntil(
    copy.arrayBuffer().then(
      (bytes) => store(key, bytes, type),
      () => {},
    ),
  )
  return asOurs(answer)
}

/** `size`: of the whole, where it is answered as a range; else null. */
function answerOf(body: BodyInit, { mime_type }: Remote["type"], part: Part, size: number | null): Response {
  const headers = { "content-type": mime_type, "content-length": String(part.length) }
  if (size === null) return new Response(body, { headers })
  return new Response(body, { status: 206, headers: { ...headers, "content-range": contentRange(part, size) } })
}

/** From the bytes at hand, whether a cache keeps them or not. */
async function keepAndCut(key: string, { type, body }: Remote, size: number, part: Part): Promise<Response> {
  const bytes = await new Response(body).arrayBuffer().catch(() => null)
  if (bytes === null) return answerFault({ reason: "remote_refused", because: "unreachable" })
  // The player's next question comes at once: it is to find it there.
  await store(key, bytes, type)
  return asOurs(answerOf(bytes.slice(part.offset, part.offset + part.length), type, part, size))
}

/** Only what came whole: some caches also keep what breaks off. So it stands in memory until then. A full cache is none. */
async function store(key: string, bytes: ArrayBuffer, { mime_type }: Remote["type"]): Promise<void> {
  const headers = {
    "content-type": mime_type,
    "content-length": String(bytes.byteLength),
    "cache-control": `public, max-age=${REMOTE_FRESH_SECONDS}`,
  }
  await caches.default.put(key, new Response(bytes, { headers })).catch(() => {})
}

/** Headers of our own about it: nothing that the other side says comes through. `isCut`: ranges are answered with ranges. */
function asOurs(from: Response, isCut = true): Response {
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
  if (isCut) headers.set("accept-ranges", "bytes")
  return new Response(from.body, { status: from.status, headers })
}
