/**
 * asset-routes.ts: a user's files come in: `POST /:id/assets?name=<label>`, the bytes as its body.
 *
 * request → ASSETS: length, first bytes, type → keeping → bucket
 * Mounted below the sessions' guards. What is refused is not read; what is taken passes through in small pieces.
 */

import { Hono } from "hono"
import type { Asset } from "../../shared/protocol/event.ts"
import type { UploadAnswer } from "../../shared/protocol/asset.ts"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import { EXTENT_BYTES, MAX_VIDEO_BYTES, SNIFF_BYTES } from "../../shared/limits.ts"
import type { Env } from "../env.ts"
import type { Kept } from "../asset/asset-rows.ts"
import { extentOf } from "../asset/image-size.ts"
import { storeAsset } from "../asset/asset-upload.ts"
import { labelOf } from "../asset/file-name.ts"
import { type FileType, sniff } from "../asset/detect-file-type.ts"
import type { Claims } from "../auth/verify-token.ts"
import { timesFor } from "../platform/time-limits.ts"
import { type App, answerFault, sessionOf } from "../platform/fault-response.ts"

export const assets = new Hono<App>()

assets.post("/:id/assets", async (context) => {
  const claims = context.get("claims")
  const id = context.req.param("id")
  const session = sessionOf(context.env, claims, id)
  const known = session === null ? null : await session.check(claims)
  if (known?.ok !== true) return answerFault({ reason: "session_unknown" })
  const size = sizeIn(context.req.header("content-length"))
  if (!size.ok) return answerFault(size.fault)
  const upload = { session: id, name: context.req.query("name") ?? "", size: size.value, body: context.req.raw.body }
  const taking = takeUpload(context.env, claims, upload)
  // It is finished, or cleaned up, also when nobody waits for its answer any more.
  context.executionCtx.waitUntil(taking.catch(() => {}))
  const kept = await taking.catch(() => fail({ reason: "asset_store_failed" } as const))
  if (!kept.ok) return answerFault(kept.fault)
  const { asset, duplicate } = kept.value
  return context.json({ ...asset, duplicate } satisfies UploadAnswer, duplicate ? 200 : 201)
})

/** Told beforehand, so that a file that is too large need not be read to be refused. */
function sizeIn(header: string | undefined): Result<number> {
  if (header === undefined || !/^\d{1,15}$/.test(header)) return fail({ reason: "length_required" })
  const size = Number(header)
  return size > MAX_VIDEO_BYTES ? fail({ reason: "asset_too_large", max: MAX_VIDEO_BYTES }) : succeed(size)
}

interface Upload {
  readonly session: string
  readonly name: string
  readonly size: number
  readonly body: ReadableStream<Uint8Array> | null
}

async function takeUpload(env: Env, claims: Claims, { session, name, size, body }: Upload): Promise<Result<Kept>> {
  const over = new AbortController()
  const timer = setTimeout(() => over.abort(new Error("the upload takes too long")), timesFor(env).uploadMs)
  const source = body?.getReader()
  // A reader that hangs is let go.
  over.signal.addEventListener("abort", () => void source?.cancel(over.signal.reason).catch(() => {}))
  try {
    const chunks: Uint8Array[] = []
    const head = await readHead(source, chunks, SNIFF_BYTES).catch(() => null)
    if (head === null) return fail({ reason: "asset_cut_off" })
    const type = judge(head, size)
    if (!type.ok) return type
    const more = type.value.kind === "image" ? await readHead(source, chunks, EXTENT_BYTES).catch(() => null) : head
    if (more === null) return fail({ reason: "asset_cut_off" })
    const about = { ...aboutOf(type.value, name), ...extentOf(type.value.mime_type, more) }
    const incoming = { about, size, bytes: restOf(chunks, source), signal: over.signal }
    return await storeAsset(env.MEDIA, { tenant: claims.tenant, session }, shelfOf(env, claims, session), incoming)
  } finally {
    await readOn(source).catch(() => {})
    clearTimeout(timer)
  }
}

/**
 * What was refused is read to its end, and dropped: a client that still sends would not hear why, but only that its line
 * broke. It is no more than was told, and takes no longer than an upload.
 */
async function readOn(source: Reader): Promise<void> {
  while ((await source?.read())?.done === false);
}

type Reader = ReadableStreamDefaultReader<Uint8Array> | undefined

/** Its first `count` bytes, or all there are. What was read of it stands in `chunks`. */
async function readHead(source: Reader, chunks: Uint8Array[], count: number): Promise<Uint8Array> {
  let length = chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0)
  while (length < count) {
    const next = await source?.read()
    if (next === undefined || next.done) break
    chunks.push(next.value)
    length += next.value.byteLength
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer()).subarray(0, count)
}

async function* restOf(chunks: readonly Uint8Array[], source: Reader): AsyncGenerator<Uint8Array> {
  yield* chunks
  for (;;) {
    const next = await source?.read()
    if (next === undefined || next.done) return
    yield next.value
  }
}

function judge(head: Uint8Array, size: number): Result<FileType> {
  const type = sniff(head)
  if (type === null)
    return fail({ reason: head.byteLength < Math.min(size, 1) ? "asset_cut_off" : "asset_type_refused" })
  return size > type.max ? fail({ reason: "asset_too_large", max: type.max }) : succeed(type)
}

function aboutOf({ kind, mime_type, extension }: FileType, name: string): Omit<Asset, "id" | "size"> {
  return { kind, mime_type, label: labelOf(name, `${kind}.${extension}`) }
}

/** The session's side, by RPC. Whether it kept a file is asked twice before it is left to the session's alarm. */
function shelfOf(env: Env, claims: Claims, session: string) {
  const stub = () => env.SESSION.getByName(`${claims.tenant}:${session}`)
  return {
    reserve: async (size: number) => await stub().reserveAsset(claims, size),
    keep: async (asset: Asset, hash: string) => {
      const keep = async () => await stub().keepAsset(claims, asset, hash)
      return await keep().catch(keep)
    },
    drop: async (id: string) => await stub().dropAsset(claims, id),
  }
}
