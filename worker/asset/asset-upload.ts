/**
 * asset-upload.ts: stores the bytes of one asset in the bucket.
 *
 * reserve a row → put and hash the bytes → commit the row
 * After a failure, the bytes are deleted before the row. A killed process leaves a pending row, which the session's
 * alarm removes together with its bytes (SPEC AS7).
 */

import type { Asset } from "../../shared/protocol/event.ts"
import { type Fault, fail, type Result, succeed } from "../../shared/fault.ts"
import { bytesToHex } from "../platform/crypto/hex.ts"
import { deleteAssetBytes, assetObjectKey, type SessionRef, assetToPutOptions } from "./bucket.ts"
import { log, describeError } from "../platform/log.ts"
import type { StoredAsset } from "../platform/rpc/session-types.ts"

/** The session that stores the asset, called directly or by RPC. */
export interface UploadTarget {
  /**
   * Reserves an id for the asset. Errors: `assets_full`, `storage_full`, `tenant_storage_full`, budget errors,
   * `session_unknown`.
   */
  reserve(size: number): Promise<Result<string>>
  /** Commits the asset. Can be repeated safely. Errors: `session_unknown`, `asset_store_failed`. */
  commit(asset: Asset, hash: string): Promise<Result<StoredAsset>>
  discard(id: string): Promise<unknown>
}

export interface AssetUpload {
  readonly about: Omit<Asset, "id" | "size">
  readonly size: number
  /** Must be exactly `size` bytes; any other length fails with `asset_cut_off`. */
  readonly bytes: Uint8Array | AsyncIterable<Uint8Array>
  /** Aborting the signal ends the upload with `asset_cut_off`. */
  readonly signal: AbortSignal
}

/**
 * Stores the bytes of an upload and commits its asset.
 *
 * Errors: those of `UploadTarget`, `asset_cut_off`, `asset_store_failed`; after an error, nothing is left behind.
 * Throws if the session cannot be reached, in which case the session's alarm cleans up. Cost: memory for a few chunks.
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

/**
 * Hashes an upload to a full session without storing it, because the session may already have the same bytes (SPEC
 * AS5).
 */
async function matchExisting(
  target: UploadTarget,
  upload: AssetUpload,
  full: Result<never>,
): Promise<Result<StoredAsset>> {
  const { about, size } = upload
  const read = await pipeAndHash(upload, (bytes) => bytes.pipeTo(new WritableStream()))
  if (!read.ok) return read
  // No row has the empty id, so this commit can only find an existing asset.
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
    // The pending row remains, so the alarm retries the deletion.
    log("asset_not_discarded", { id, error: describeError(error) })
  }
}

/**
 * Streams bytes to `consume` and returns their SHA-256 in hexadecimal.
 *
 * Errors: `asset_cut_off`, `asset_store_failed`.
 */
export async function pipeAndHash(
  upload: Omit<AssetUpload, "about">,
  consume: (bytes: ReadableStream<Uint8Array>) => Promise<unknown>,
): Promise<Result<string>> {
  const { size, signal } = upload
  const { readable, writable } = new FixedLengthStream(size)
  const digest = new crypto.DigestStream("SHA-256")
  const [file, sum] = [writable.getWriter(), digest.getWriter()]
  let fault: Fault | null = null
  // Only the first fault is reported, because it makes the other side fail too.
  const failWith = (reason: Fault, error: unknown): void => {
    fault ??= reason
    if (fault === reason) log("asset_not_put", { reason: reason.reason, error: describeError(error) })
    file.abort(error).catch(() => {})
    sum.abort(error).catch(() => {})
  }
  const onAbort = (): void => failWith({ reason: "asset_cut_off" }, signal.reason)
  signal.addEventListener("abort", onAbort, { once: true })
  if (signal.aborted) onAbort()
  digest.digest.catch(() => {})
  const inputDone = writeChunks(upload, [file, sum]).catch((error) => failWith({ reason: "asset_cut_off" }, error))
  // Called in an async function, so that a synchronous exception from the bucket is handled like a rejection.
  const outputDone = (async () => await consume(readable))()
  await Promise.all([inputDone, outputDone.catch((error) => failWith({ reason: "asset_store_failed" }, error))])
  signal.removeEventListener("abort", onAbort)
  return fault === null ? succeed(bytesToHex(await digest.digest)) : fail(fault)
}

/** Writes the chunks. Checks their total length itself, so that a wrong length is not reported as a bucket failure. */
async function writeChunks(
  { bytes, size }: Omit<AssetUpload, "about">,
  sinks: readonly WritableStreamDefaultWriter<Uint8Array>[],
): Promise<void> {
  let length = 0
  for await (const chunk of bytes instanceof Uint8Array ? [bytes] : joinChunks(bytes)) {
    length += chunk.byteLength
    if (length > size) throw new Error("more bytes than declared")
    await Promise.all(sinks.map((sink) => sink.write(chunk)))
  }
  if (length < size) throw new Error("fewer bytes than declared")
  await Promise.all(sinks.map((sink) => sink.close()))
}

/** Minimum size of a write. Uploads arrive in small chunks, and each write waits for its reader. */
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
