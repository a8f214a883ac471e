/**
 * asset-routes.ts: a user's files come in: `POST /:id/assets?name=<label>`, the bytes as its body.
 *
 * request → ASSETS: length, first bytes, type → keeping → bucket
 * Mounted below the sessions' guards. What is refused is not read; what is taken passes through in small pieces.
 */

import { Hono } from "hono"
import type { Asset } from "../../shared/protocol/event.ts"
import type { UploadResponse } from "../../shared/protocol/asset.ts"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import { IMAGE_SIZE_BYTES, MAX_VIDEO_BYTES, FILE_TYPE_BYTES } from "../../shared/limits.ts"
import type { Env } from "../env.ts"
import type { StoredAsset } from "../asset/asset-rows.ts"
import { readImageSize } from "../asset/image-size.ts"
import { storeAsset } from "../asset/asset-upload.ts"
import { fileNameToLabel } from "../asset/file-name.ts"
import { type FileType, detectFileType } from "../asset/detect-file-type.ts"
import { createSessionStub } from "../auth/session-stub.ts"
import type { Claims } from "../auth/verify-token.ts"
import { readTimeLimits } from "../platform/time-limits.ts"
import { type AppEnv, faultToResponse, getSessionStub } from "../platform/fault-response.ts"

export const assetRoutes = new Hono<AppEnv>()

assetRoutes.post("/:id/assets", async (context) => {
  const claims = context.get("claims")
  const id = context.req.param("id")
  const session = getSessionStub(context.env, claims, id)
  const checked = session === null ? null : await session.checkOwner(claims)
  if (checked?.ok !== true) return faultToResponse({ reason: "session_unknown" })
  const size = parseContentLength(context.req.header("content-length"))
  if (!size.ok) return faultToResponse(size.fault)
  const upload = { session: id, name: context.req.query("name") ?? "", size: size.value, body: context.req.raw.body }
  const storing = receiveUpload(context.env, claims, upload)
  // It is finished, or cleaned up, also when nobody waits for its answer any more.
  context.executionCtx.waitUntil(storing.catch(() => {}))
  const stored = await storing.catch(() => fail({ reason: "asset_store_failed" } as const))
  if (!stored.ok) return faultToResponse(stored.fault)
  const { asset, duplicate } = stored.value
  return context.json({ ...asset, duplicate } satisfies UploadResponse, duplicate ? 200 : 201)
})

/** Told beforehand, so that a file that is too large need not be read to be refused. */
function parseContentLength(header: string | undefined): Result<number> {
  if (header === undefined || !/^\d{1,15}$/.test(header)) return fail({ reason: "length_required" })
  const size = Number(header)
  return size > MAX_VIDEO_BYTES ? fail({ reason: "asset_too_large", max: MAX_VIDEO_BYTES }) : succeed(size)
}

interface UploadRequest {
  readonly session: string
  readonly name: string
  readonly size: number
  readonly body: ReadableStream<Uint8Array> | null
}

async function receiveUpload(
  env: Env,
  claims: Claims,
  { session, name, size, body }: UploadRequest,
): Promise<Result<StoredAsset>> {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new Error("the upload takes too long")), readTimeLimits(env).uploadMs)
  const source = body?.getReader()
  // A reader that hangs is let go.
  controller.signal.addEventListener("abort", () => void source?.cancel(controller.signal.reason).catch(() => {}))
  try {
    const chunks: Uint8Array[] = []
    const head = await readHead(source, chunks, FILE_TYPE_BYTES).catch(() => null)
    if (head === null) return fail({ reason: "asset_cut_off" })
    const type = checkFileType(head, size)
    if (!type.ok) return type
    const more = type.value.kind === "image" ? await readHead(source, chunks, IMAGE_SIZE_BYTES).catch(() => null) : head
    if (more === null) return fail({ reason: "asset_cut_off" })
    const about = { ...createAssetInfo(type.value, name), ...readImageSize(type.value.mime_type, more) }
    const incoming = { about, size, bytes: readRemaining(chunks, source), signal: controller.signal }
    return await storeAsset(
      env.MEDIA,
      { tenant: claims.tenant, session },
      createSessionAssets(env, claims, session),
      incoming,
    )
  } finally {
    await drainBody(source).catch(() => {})
    clearTimeout(timer)
  }
}

/**
 * What was refused is read to its end, and dropped: a client that still sends would not hear why, but only that its line
 * broke. It is no more than was told, and takes no longer than an upload.
 */
async function drainBody(source: BodyReader): Promise<void> {
  while ((await source?.read())?.done === false);
}

type BodyReader = ReadableStreamDefaultReader<Uint8Array> | undefined

/** Its first `count` bytes, or all there are. What was read of it stands in `chunks`. */
async function readHead(source: BodyReader, chunks: Uint8Array[], count: number): Promise<Uint8Array> {
  let length = chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0)
  while (length < count) {
    const next = await source?.read()
    if (next === undefined || next.done) break
    chunks.push(next.value)
    length += next.value.byteLength
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer()).subarray(0, count)
}

async function* readRemaining(chunks: readonly Uint8Array[], source: BodyReader): AsyncGenerator<Uint8Array> {
  yield* chunks
  for (;;) {
    const next = await source?.read()
    if (next === undefined || next.done) return
    yield next.value
  }
}

function checkFileType(head: Uint8Array, size: number): Result<FileType> {
  const type = detectFileType(head)
  if (type === null)
    return fail({ reason: head.byteLength < Math.min(size, 1) ? "asset_cut_off" : "asset_type_refused" })
  return size > type.maxBytes ? fail({ reason: "asset_too_large", max: type.maxBytes }) : succeed(type)
}

function createAssetInfo({ kind, mime_type, extension }: FileType, name: string): Omit<Asset, "id" | "size"> {
  return { kind, mime_type, label: fileNameToLabel(name, `${kind}.${extension}`) }
}

/** The session's side, by RPC. Whether it kept a file is asked twice before it is left to the session's alarm. */
function createSessionAssets(env: Env, claims: Claims, session: string) {
  const getStub = () => createSessionStub(env, claims.tenant, session)
  return {
    reserve: async (size: number) => await getStub().reserveAsset(claims, size),
    commit: async (asset: Asset, hash: string) => {
      const keepOnce = async () => await getStub().commitAsset(claims, asset, hash)
      return await keepOnce().catch(keepOnce)
    },
    discard: async (id: string) => await getStub().discardAsset(claims, id),
  }
}
