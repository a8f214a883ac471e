/**
 * remote.ts: `GET /media/remote?token=`: media of other hosts, which learn nothing of the reader.
 *
 * signed address → REMOTE → cache, or fetch → page
 * What came whole is kept for a while for its tenant, and ranges are cut from that.
 */

import { type Context, Hono } from "hono"
import { MAX_REMOTE_CACHED_BYTES, REMOTE_FRESH_SECONDS } from "../../shared/limits.ts"
import { type MediaClaims, readMedia } from "../tenant/media-keys.ts"
import { timesFor } from "../times.ts"
import { type App, answerFault } from "./answer.ts"
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

/** A cache that fails is none. It cuts one range of bytes by itself. */
async function match(key: string, range?: string): Promise<Response | null> {
  const headers = range !== undefined && /^bytes=\d*-\d*$/.test(range) ? { range } : undefined
  try {
    return (await caches.default.match(new Request(key, headers === undefined ? {} : { headers }))) ?? null
  } catch {
    return null
  }
}

async function keep(context: Context<App>, key: string, { type, size, body }: Remote): Promise<Response> {
  const headers: Record<string, string> = { "content-type": type.mime_type }
  if (size !== null) headers["content-length"] = String(size)
  const answer = new Response(size === null ? body : body.pipeThrough(new FixedLengthStream(size)), { headers })
  if (size === null || size > MAX_REMOTE_CACHED_BYTES) return asOurs(answer)
  const stored = store(key, answer.clone(), headers)
  context.executionCtx.waitUntil(stored)
  const range = context.req.header("range")
  if (range === undefined || type.kind === "image") return asOurs(answer)
  // A player that asks for a range may play nothing else.
  await answer.body?.cancel()
  await stored
  const part = await match(key, range)
  return part === null ? answerFault({ reason: "remote_refused", because: "unreachable" }) : asOurs(part)
}

/** Only what came whole: some caches also keep what breaks off. So it stands in memory until then. */
async function store(key: string, copy: Response, headers: Readonly<Record<string, string>>): Promise<void> {
  try {
    const bytes = await copy.arrayBuffer()
    const fresh = { ...headers, "cache-control": `public, max-age=${REMOTE_FRESH_SECONDS}` }
    await caches.default.put(key, new Response(bytes, { headers: fresh }))
  } catch {
    // It broke off, or the cache is full: the next reader has it fetched anew.
  }
}

/** Headers of our own about it: nothing that the other side says comes through. */
function asOurs(from: Response): Response {
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
  if (from.headers.has("content-length")) headers.set("accept-ranges", "bytes")
  return new Response(from.body, { status: from.status, headers })
}
