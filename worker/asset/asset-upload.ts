/**
 * asset-upload.ts: takes the bytes of one file into the bucket, so that there is never a row without bytes nor bytes without a row.
 *
 * upload, tool → KEEPING: reserve → put, hashed as they pass → keep → asset
 * Whatever fails in between: first the bytes go, then the row. What a kill leaves is a row that waits; the session's
 * alarm takes it away with its bytes (files.ts).
 */

import type { Asset } from "../../shared/protocol/event.ts"
import { type Fault, fail, type Result, succeed } from "../../shared/fault.ts"
import { bytesToHex } from "../platform/hex.ts"
import { deleteAssetBytes, assetObjectKey, type SessionRef, assetToPutOptions } from "./bucket.ts"
import { log } from "../platform/log.ts"
import type { StoredAsset } from "../platform/rpc/session-types.ts"

/** The session's side of it, from within or by RPC. */
export interface UploadTarget {
  /** Errors: `assets_full`, `session_unknown`. */
  reserve(size: number): Promise<Result<string>>
  /** The same again has no second effect. Errors: `session_unknown`, `asset_store_failed`. */
  commit(asset: Asset, hash: string): Promise<Result<StoredAsset>>
  discard(id: string): Promise<unknown>
}

export interface AssetUpload {
  readonly about: Omit<Asset, "id" | "size">
  readonly size: number
  /** Of exactly `size` bytes; anything else is `asset_cut_off`. */
  readonly bytes: Uint8Array | AsyncIterable<Uint8Array>
  /** Ends it, as if it had been cut off. */
  readonly signal: AbortSignal
}

/**
 * Shapes  Incoming → Kept, and the bytes in the bucket.
 * Errors  `assets_full`, `asset_cut_off`, `asset_store_failed`, `session_unknown`; nothing is left of it then.
 * Cost    memory: a few chunks. Throws only where the session cannot be reached; its alarm cleans up.
 */
export async function storeAsset(
  bucket: R2Bucket,
  sessionRef: SessionRef,
  target: UploadTarget,
  upload: AssetUpload,
): Promise<Result<StoredAsset>> {
  const { about, size } = upload
  const reserved = await target.reserve(size)
  if (!reserved.ok)
    return reserved.fault.reason === "assets_full" ? await matchExisting(target, upload, reserved) : reserved
  const asset: Asset = { id: reserved.value, ...about, size }
  const put = await pipeAndHash(upload, (bytes) =>
    bucket.put(assetObjectKey(sessionRef, asset.id), bytes, assetToPutOptions(asset)),
  )
  const stored = put.ok ? await target.commit(asset, put.value) : put
  if (!stored.ok || stored.value.duplicate) await discardUpload(bucket, sessionRef, target, asset.id)
  return stored
}

/** Where there is no room, the same bytes again are still the file that there is: they are read, and kept nowhere. */
async function matchExisting(
  target: UploadTarget,
  upload: AssetUpload,
  full: Result<never>,
): Promise<Result<StoredAsset>> {
  const { about, size } = upload
  const read = await pipeAndHash(upload, (bytes) => bytes.pipeTo(new WritableStream()))
  if (!read.ok) return read
  // No row waits for that id.
  const stored = await target.commit({ id: "", ...about, size }, read.value)
  return stored.ok ? stored : full
}

async function discardUpload(
  bucket: R2Bucket,
  sessionRef: SessionRef,
  target: UploadTarget,
  id: string,
): Promise<void> {
  try {
    await deleteAssetBytes(bucket, sessionRef, [id])
    await target.discard(id)
  } catch (error) {
    // The row stays, and so does the reason to look again.
    log("asset_not_discarded", { id, message: error instanceof Error ? error.message : "unknown" })
  }
}

/** Passes on what comes and tells the SHA-256 of it, in hexadecimal. Errors: `asset_cut_off`, `asset_store_failed`. */
export async function pipeAndHash(
  upload: Omit<AssetUpload, "about">,
  consume: (bytes: ReadableStream<Uint8Array>) => Promise<unknown>,
): Promise<Result<string>> {
  const { size, signal } = upload
  const { readable, writable } = new FixedLengthStream(size)
  const digest = new crypto.DigestStream("SHA-256")
  const [file, sum] = [writable.getWriter(), digest.getWriter()]
  let fault: Fault | null = null
  // The first reason counts: the other side fails with it.
  const failWith = (reason: Fault, error: unknown): void => {
    fault ??= reason
    const message = error instanceof Error ? error.message : "unknown"
    if (fault === reason) log("asset_not_put", { reason: reason.reason, message })
    file.abort(error).catch(() => {})
    sum.abort(error).catch(() => {})
  }
  const onAbort = (): void => failWith({ reason: "asset_cut_off" }, signal.reason)
  signal.addEventListener("abort", onAbort, { once: true })
  if (signal.aborted) onAbort()
  digest.digest.catch(() => {})
  const inputDone = writeChunks(upload, [file, sum]).catch((error) => failWith({ reason: "asset_cut_off" }, error))
  // In a function of its own: a bucket that throws at once is one that failed, too.
  const outputDone = (async () => await consume(readable))()
  await Promise.all([inputDone, outputDone.catch((error) => failWith({ reason: "asset_store_failed" }, error))])
  signal.removeEventListener("abort", onAbort)
  return fault === null ? succeed(bytesToHex(await digest.digest)) : fail(fault)
}

/** Counts for itself: what does not come whole is not the bucket's fault. */
async function writeChunks(
  { bytes, size }: Omit<AssetUpload, "about">,
  sinks: readonly WritableStreamDefaultWriter<Uint8Array>[],
): Promise<void> {
  let length = 0
  for await (const chunk of bytes instanceof Uint8Array ? [bytes] : joinChunks(bytes)) {
    length += chunk.byteLength
    if (length > size) throw new Error("more came than was told")
    await Promise.all(sinks.map((sink) => sink.write(chunk)))
  }
  if (length < size) throw new Error("less came than was told")
  await Promise.all(sinks.map((sink) => sink.close()))
}

/** Bytes that are passed on at a time: lines bring few, and each write waits for its reader. */
const WRITE_BYTES = 128 * 1024

async function* joinChunks(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let chunks: Uint8Array[] = []
  let length = 0
  const joinPending = async (): Promise<Uint8Array> => {
    const joined = new Uint8Array(await new Blob(chunks).arrayBuffer())
    chunks = []
    length = 0
    return joined
  }
  for await (const chunk of bytes) {
    chunks.push(chunk)
    length += chunk.byteLength
    if (length >= WRITE_BYTES) yield await joinPending()
  }
  if (length > 0) yield await joinPending()
}
