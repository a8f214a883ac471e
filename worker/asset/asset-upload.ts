/**
 * asset-upload.ts: takes the bytes of one file into the bucket, so that there is never a row without bytes nor bytes without a row.
 *
 * upload, tool → KEEPING: reserve → put, hashed as they pass → keep → asset
 * Whatever fails in between: first the bytes go, then the row. What a kill leaves is a row that waits; the session's
 * alarm takes it away with its bytes (files.ts).
 */

import type { Asset } from "../../shared/protocol/event.ts"
import { type Fault, fail, type Result, succeed } from "../../shared/fault.ts"
import { toHex } from "../platform/hex.ts"
import type { Kept } from "./asset-rows.ts"
import { deleteBytes, keyOf, type Place, putOptions } from "./bucket.ts"
import { log } from "../platform/log.ts"

/** The session's side of it, from within or by RPC. */
export interface Shelf {
  /** Errors: `assets_full`, `session_unknown`. */
  reserve(size: number): Promise<Result<string>>
  /** The same again has no second effect. Errors: `session_unknown`, `asset_store_failed`. */
  keep(asset: Asset, hash: string): Promise<Result<Kept>>
  drop(id: string): Promise<unknown>
}

export interface Incoming {
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
  place: Place,
  shelf: Shelf,
  incoming: Incoming,
): Promise<Result<Kept>> {
  const { about, size } = incoming
  const reserved = await shelf.reserve(size)
  if (!reserved.ok) return reserved.fault.reason === "assets_full" ? await known(shelf, incoming, reserved) : reserved
  const asset: Asset = { id: reserved.value, ...about, size }
  const put = await pass(incoming, (bytes) => bucket.put(keyOf(place, asset.id), bytes, putOptions(asset)))
  const kept = put.ok ? await shelf.keep(asset, put.value) : put
  if (!kept.ok || kept.value.duplicate) await discard(bucket, place, shelf, asset.id)
  return kept
}

/** Where there is no room, the same bytes again are still the file that there is: they are read, and kept nowhere. */
async function known(shelf: Shelf, incoming: Incoming, full: Result<never>): Promise<Result<Kept>> {
  const { about, size } = incoming
  const read = await pass(incoming, (bytes) => bytes.pipeTo(new WritableStream()))
  if (!read.ok) return read
  // No row waits for that id.
  const kept = await shelf.keep({ id: "", ...about, size }, read.value)
  return kept.ok ? kept : full
}

async function discard(bucket: R2Bucket, place: Place, shelf: Shelf, id: string): Promise<void> {
  try {
    await deleteBytes(bucket, place, [id])
    await shelf.drop(id)
  } catch (error) {
    // The row stays, and so does the reason to look again.
    log("asset_not_discarded", { id, message: error instanceof Error ? error.message : "unknown" })
  }
}

/** Passes on what comes and tells the SHA-256 of it, in hexadecimal. Errors: `asset_cut_off`, `asset_store_failed`. */
export async function pass(
  incoming: Omit<Incoming, "about">,
  take: (bytes: ReadableStream<Uint8Array>) => Promise<unknown>,
): Promise<Result<string>> {
  const { size, signal } = incoming
  const { readable, writable } = new FixedLengthStream(size)
  const digest = new crypto.DigestStream("SHA-256")
  const [file, sum] = [writable.getWriter(), digest.getWriter()]
  let fault: Fault | null = null
  // The first reason counts: the other side fails with it.
  const stop = (why: Fault, error: unknown): void => {
    fault ??= why
    const message = error instanceof Error ? error.message : "unknown"
    if (fault === why) log("asset_not_put", { reason: why.reason, message })
    file.abort(error).catch(() => {})
    sum.abort(error).catch(() => {})
  }
  const onAbort = (): void => stop({ reason: "asset_cut_off" }, signal.reason)
  signal.addEventListener("abort", onAbort, { once: true })
  if (signal.aborted) onAbort()
  digest.digest.catch(() => {})
  const poured = pour(incoming, [file, sum]).catch((error) => stop({ reason: "asset_cut_off" }, error))
  // In a function of its own: a bucket that throws at once is one that failed, too.
  const taken = (async () => await take(readable))()
  await Promise.all([poured, taken.catch((error) => stop({ reason: "asset_store_failed" }, error))])
  signal.removeEventListener("abort", onAbort)
  return fault === null ? succeed(toHex(await digest.digest)) : fail(fault)
}

/** Counts for itself: what does not come whole is not the bucket's fault. */
async function pour(
  { bytes, size }: Omit<Incoming, "about">,
  sinks: readonly WritableStreamDefaultWriter<Uint8Array>[],
): Promise<void> {
  let length = 0
  for await (const chunk of bytes instanceof Uint8Array ? [bytes] : inPieces(bytes)) {
    length += chunk.byteLength
    if (length > size) throw new Error("more came than was told")
    await Promise.all(sinks.map((sink) => sink.write(chunk)))
  }
  if (length < size) throw new Error("less came than was told")
  await Promise.all(sinks.map((sink) => sink.close()))
}

/** Bytes that are passed on at a time: lines bring few, and each write waits for its reader. */
const PIECE_BYTES = 128 * 1024

async function* inPieces(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let chunks: Uint8Array[] = []
  let length = 0
  const take = async (): Promise<Uint8Array> => {
    const piece = new Uint8Array(await new Blob(chunks).arrayBuffer())
    chunks = []
    length = 0
    return piece
  }
  for await (const chunk of bytes) {
    chunks.push(chunk)
    length += chunk.byteLength
    if (length >= PIECE_BYTES) yield await take()
  }
  if (length > 0) yield await take()
}
