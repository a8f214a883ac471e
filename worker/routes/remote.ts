/**
 * remote.ts: `GET /media/remote?token=`: media of other hosts, which learn nothing of the reader.
 *
 * signed address → REMOTE → cache, or fetch → page
 * What is small and came whole is kept for a while for its tenant, and ranges are cut from that. Of what is large, or of
 * unknown length, a range is answered with all of it, as RFC 9110 lets a server do: players go on with that.
 */

import { type Context, Hono } from "hono"
import { MAX_REMOTE_CACHED_BYTES, REMOTE_FRESH_SECONDS } from "../../shared/limits.ts"
import { type MediaClaims, readMedia } from "../tenant/media-keys.ts"
import { timesFor } from "../times.ts"
import { type App, answerFault } from "./answer.ts"
import { contentRange, rangeIn, refuseRange } from "./range.ts"
import { fetchRemote, type Remote } from "./remote-fetch.ts"

export const remote = new Hono<App>().get("/", async (context) => {
  const { env, req } = context
  const claims = await readMedia(env.JWT_SECRET ?? "", "remote", req.query("token") ?? "", Date.now())
  if (!claims.ok) return answerFault(claims.fault)
  const key = await cacheKey(claims.value)
  const kept = await match(key, req.header("range"))
  if (kept !== null) return asOurs(kept)
  const fetched = await fetchRemote(claims.value.what, timesFor(env), env.MEDIA_UPSTREAM)
  if (!fetched.ok) return answerFault(fetched.fault)
  return await keep(context, key, fetched.value)
})

/** Of this tenant alone: whether another one's reader looked at it is not to be told from its speed. */
async function cacheKey({ tenant, what }: MediaClaims): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(what))
  const hex = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("")
  return `https://media.invalid/${tenant}/${hex}`
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

/** As it comes, whole, and kept on the way where it is small; cut where a player asks for that and it can be done. */
async function keep(context: Context<App>, key: string, remote: Remote): Promise<Response> {
  const { type, size, body } = remote
  const range = type.kind === "image" ? undefined : context.req.header("range")
  const isKept = size !== null && size <= MAX_REMOTE_CACHED_BYTES
  if (isKept && range !== undefined) return await keepAndCut(key, remote, size, range)
  const headers: Record<string, string> = { "content-type": type.mime_type }
  if (size !== null) headers["content-length"] = String(size)
  const answer = new Response(size === null ? body : body.pipeThrough(new FixedLengthStream(size)), { headers })
  if (!isKept) return asOurs(answer, false)
  const copy = answer.clone()
  context.executionCtx.waitUntil(
    // What breaks off is fetched anew by the next reader.
    copy.arrayBuffer().then(
      (bytes) => store(key, bytes, headers),
      () => {},
    ),
  )
  return asOurs(answer)
}

/** A player that asks for a range may play nothing else: it is cut from the bytes at hand, whether they are kept or not. */
async function keepAndCut(key: string, { type, body }: Remote, size: number, range: string): Promise<Response> {
  const wanted = rangeIn(range, size)
  if (!wanted.ok) {
    await body.cancel()
    return refuseRange(size)
  }
  const bytes = await new Response(body).arrayBuffer().catch(() => null)
  if (bytes === null) return answerFault({ reason: "remote_refused", because: "unreachable" })
  const headers = { "content-type": type.mime_type, "content-length": String(size) }
  // The player's next question comes at once: it is to find it there.
  await store(key, bytes, headers)
  if (wanted.value === null) return asOurs(new Response(bytes, { headers }))
  const { offset, length } = wanted.value
  return asOurs(
    new Response(bytes.slice(offset, offset + length), {
      status: 206,
      headers: { ...headers, "content-length": String(length), "content-range": contentRange(wanted.value, size) },
    }),
  )
}

/** Only what came whole: some caches also keep what breaks off. So it stands in memory until then. A full cache is none. */
async function store(key: string, bytes: ArrayBuffer, headers: Readonly<Record<string, string>>): Promise<void> {
  const fresh = { ...headers, "cache-control": `public, max-age=${REMOTE_FRESH_SECONDS}` }
  await caches.default.put(key, new Response(bytes, { headers: fresh })).catch(() => {})
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
