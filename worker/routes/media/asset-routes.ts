/**
 * asset-routes.ts: uploads: `POST /:id/assets?name=<file name>` with the bytes as its body.
 *
 * Mounted below the routes of sessions. The body's Content-Length and its first bytes are checked before it is streamed
 * to the bucket.
 */

import type { Context } from "hono"
import { fail, type Result, succeed } from "../../../shared/fault.ts"
import { FILE_TYPE_BYTES, IMAGE_SIZE_BYTES, MAX_REFUSED_BYTES, MAX_VIDEO_BYTES } from "../../../shared/asset-limits.ts"
import type { UploadResponse } from "../../../shared/protocol/http-body.ts"
import type { Asset } from "../../../shared/protocol/event.ts"
import { storeAsset, type UploadTarget } from "../../asset/asset-upload.ts"
import { detectFileType, type FileType } from "../../asset/detect-file-type.ts"
import { fileNameToLabel } from "../../asset/asset-label.ts"
import { readImageSize } from "../../asset/image-size.ts"
import type { Env } from "../../env.ts"
import type { Claims } from "../../platform/rpc/claims.ts"
import { faultToResponse } from "../../platform/fault-response.ts"
import { mediaBucket } from "../../platform/media-bucket.ts"
import { sessionStub } from "../../platform/rpc/object-stubs.ts"
import { BodyReader } from "../../platform/read-bounded.ts"
import { readTimeLimits } from "../../platform/time-limits.ts"
import type { AppEnv } from "../request-body.ts"
import { requireOwnSession, requireSession } from "../access/require-session.ts"
import type { StoredAsset } from "../../platform/rpc/session-types.ts"
import { createHono } from "../hono-app.ts"

export const assetRoutes = createHono<AppEnv>()

assetRoutes.post("/:id/assets", requireSession, requireOwnSession, async (context) => {
  const size = parseContentLength(context.req.header("content-length"))
  if (!size.ok) return faultToResponse(size.fault)
  const storing = receiveUpload(context, context.get("sessionKey"), size.value)
  // The upload is completed or cleaned up even if the client disconnects.
  context.executionCtx.waitUntil(storing.catch(() => {}))
  const stored = await storing.catch(() => fail({ reason: "asset_store_failed" } as const))
  if (!stored.ok) return faultToResponse(stored.fault)
  const { asset, duplicate } = stored.value
  return context.json({ ...asset, duplicate } satisfies UploadResponse, duplicate ? 200 : 201)
})

/**
 * Parses Content-Length. The header is required, so that a file that is too large can be refused without reading it.
 */
function parseContentLength(header: string | undefined): Result<number> {
  if (header === undefined || !/^\d{1,15}$/.test(header)) return fail({ reason: "length_required" })
  const size = Number(header)
  return size > MAX_VIDEO_BYTES ? fail({ reason: "asset_too_large", max: MAX_VIDEO_BYTES }) : succeed(size)
}

async function receiveUpload(context: Context<AppEnv>, session: string, size: number): Promise<Result<StoredAsset>> {
  const { env, req } = context
  const claims = context.get("claims")
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new Error("the upload takes too long")), readTimeLimits(env).uploadMs)
  const body = new BodyReader(req.raw.body)
  // Cancelling the body unblocks a pending read.
  controller.signal.addEventListener("abort", () => void body.cancel(controller.signal.reason).catch(() => {}))
  try {
    const metadata = await inspectUpload(body, size, req.query("name") ?? "")
    if (!metadata.ok) return metadata
    const upload = { about: metadata.value, size, bytes: body.readAll(), signal: controller.signal }
    const target = createUploadTarget(env, claims, session)
    return await storeAsset(mediaBucket(env, claims.tenant), { tenant: claims.tenant, session }, target, upload)
  } finally {
    clearTimeout(timer)
    await drainRefused(body, readTimeLimits(env).refusedUploadMs)
  }
}

/**
 * Keeps reading a refused upload for a while. Otherwise, a client that is still sending would see a broken connection
 * instead of the response. The body of a successful upload has already been read to its end.
 */
async function drainRefused(body: BodyReader, maxMs: number): Promise<void> {
  const timer = setTimeout(() => void body.cancel().catch(() => {}), maxMs)
  await body.drain(MAX_REFUSED_BYTES).catch(() => {})
  clearTimeout(timer)
}

/**
 * Reads the metadata of an upload from its first bytes. Errors: `asset_cut_off`, `asset_type_refused`,
 * `asset_too_large`.
 */
async function inspectUpload(
  body: BodyReader,
  size: number,
  fileName: string,
): Promise<Result<Omit<Asset, "id" | "size">>> {
  const head = await body.peek(FILE_TYPE_BYTES).catch(() => null)
  if (head === null) return fail({ reason: "asset_cut_off" })
  const type = checkFileType(head, size)
  if (!type.ok) return type
  const { kind, mime_type, extension } = type.value
  const imageHead = kind === "image" ? await body.peek(IMAGE_SIZE_BYTES).catch(() => null) : head
  if (imageHead === null) return fail({ reason: "asset_cut_off" })
  const label = fileNameToLabel(fileName, `${kind}.${extension}`)
  return succeed({ kind, mime_type, label, ...readImageSize(mime_type, imageHead) })
}

function checkFileType(head: Uint8Array, size: number): Result<FileType> {
  const type = detectFileType(head)
  if (type === null)
    return fail({ reason: head.byteLength < Math.min(size, 1) ? "asset_cut_off" : "asset_type_refused" })
  return size > type.maxBytes ? fail({ reason: "asset_too_large", max: type.maxBytes }) : succeed(type)
}

/** Calls the session object by RPC, with a new stub for each call, because a stub that has failed once stays broken. */
function createUploadTarget(env: Env, claims: Claims, session: string): UploadTarget {
  const getStub = () => sessionStub(env, claims.tenant, session)
  return {
    reserve: async (size) => await getStub().reserveAsset(claims, size),
    // The call is repeatable, so it is retried once if it fails. If the retry fails too, the session's alarm cleans up.
    commit: async (asset, hash) => {
      const commitOnce = async () => await getStub().commitAsset(claims, asset, hash)
      return await commitOnce().catch(commitOnce)
    },
    discard: async (id) => await getStub().discardAsset(claims, id),
  }
}
