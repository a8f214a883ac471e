/**
 * upload-lines.ts: splits an uploaded file, plain or gzip, into lines as its bytes arrive.
 *
 * All chunks are read into one buffer. With a buffer per chunk, the object would grow by most of the file before any
 * buffer is garbage-collected.
 */

import type { Fault } from "../../shared/fault.ts"
import { MAX_IMPORT_BYTES, MAX_IMPORT_LINE_BYTES } from "../../shared/limits.ts"
import { createLineSplitter, type Line } from "../../shared/ingest/line-splitter.ts"
import { withTimeout } from "../platform/timeout.ts"

/** Thrown if the remainder of an upload cannot be read. The lines before it have already been yielded. */
export class UnreadableUploadError extends Error {
  readonly fault: Fault
  constructor(fault: Fault) {
    super(fault.reason)
    this.fault = fault
  }
}

/** How long an upload may take, in milliseconds. */
export interface UploadTimes {
  /** Maximum time without new bytes. */
  readonly idleMs: number
  /** Maximum total time. */
  readonly totalMs: number
}

/**
 * Maximum number of records, and of lines, in an upload or a part of one: each costs about 20 µs. A file of 64 MB from
 * a real conversation has fewer. SPEC RE38.
 */
export const MAX_IMPORT_RECORDS = 500_000

/**
 * Maximum ratio of an upload's unpacked size to its packed size. Records compress 10 to 40 times. A small file may
 * always unpack to MIN_UNPACKED_BYTES. SPEC RE39.
 */
export const MAX_UNPACK_RATIO = 100
export const MIN_UNPACKED_BYTES = 4 * 1024 * 1024

const CHUNK_BYTES = 64 * 1024

/**
 * Yields the lines of each chunk. Blank lines are counted but omitted.
 *
 * Errors: throws `UnreadableUploadError` beyond MAX_IMPORT_BYTES, compressed or not, beyond MAX_IMPORT_RECORDS lines,
 * for damaged gzip data and data that unpacks to more than MAX_UNPACK_RATIO times its size, if the upload breaks off,
 * and if it exceeds its time limits. After an error, the stream is cancelled and the remainder is not read. Cost:
 * linear time, and memory for one chunk and the longest line.
 */
export async function* readUploadLines(
  body: ReadableStream<Uint8Array>,
  times: UploadTimes,
): AsyncGenerator<readonly Line[]> {
  const splitter = createLineSplitter(MAX_IMPORT_LINE_BYTES)
  const chunks = readChunks(body, times, { reason: "import_stalled" })
  for await (const chunk of decompressIfGzip(limitBytes(chunks))) {
    const lines = splitter.push(chunk)
    checkRecordCount(splitter.nextLineNumber() - 1)
    yield lines
  }
  yield splitter.end()
}

/** Throws `UnreadableUploadError` if this is more records, or lines, than an upload may have (SPEC RE38). */
export function checkRecordCount(records: number): void {
  if (records <= MAX_IMPORT_RECORDS) return
  throw new UnreadableUploadError({ reason: "import_too_many_records", max: MAX_IMPORT_RECORDS })
}

/**
 * Yields chunks that are valid until the next one is requested. Returning early cancels the stream. A stream that fails
 * throws `UnreadableUploadError` with this fault.
 */
async function* readChunks(
  body: ReadableStream<Uint8Array>,
  { idleMs, totalMs }: UploadTimes,
  fault: Fault,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader({ mode: "byob" })
  const endMs = Date.now() + totalMs
  let buffer = new ArrayBuffer(CHUNK_BYTES)
  try {
    for (;;) {
      const leftMs = endMs - Date.now()
      if (leftMs <= 0) throw createSlowError()
      const reading = reader.read(new Uint8Array(buffer)).catch(() => {
        throw new UnreadableUploadError(fault)
      })
      const createError = leftMs < idleMs ? createSlowError : createStallError
      const { done, value } = await withTimeout(reading, Math.min(idleMs, leftMs), createError)
      if (value !== undefined) buffer = value.buffer
      if (done || value === undefined) return
      yield value
    }
  } finally {
    // Cancelling a failed stream also fails.
    await reader.cancel().catch(() => {})
  }
}

function createStallError(): UnreadableUploadError {
  return new UnreadableUploadError({ reason: "import_stalled" })
}

function createSlowError(): UnreadableUploadError {
  return new UnreadableUploadError({ reason: "import_slow" })
}

async function* limitBytes(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.byteLength
    if (bytes > MAX_IMPORT_BYTES) throw new UnreadableUploadError({ reason: "import_too_large", max: MAX_IMPORT_BYTES })
    yield chunk
  }
}

/** Decompresses gzip data, which is detected by its first two bytes, regardless of the request's headers. */
async function* decompressIfGzip(chunks: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  const first = await chunks.next()
  if (first.done === true) return
  if (first.value[0] === 0x1f && first.value[1] === 0x8b) return yield* limitBytes(gunzipChunks(first.value, chunks))
  yield first.value
  yield* chunks
}

/** Decompression waits only for the upload, which has its own time limits. */
const NO_TIMES: UploadTimes = { idleMs: 2 ** 31 - 1, totalMs: 2 ** 31 - 1 }

async function* gunzipChunks(first: Uint8Array, rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { readable, writable } = new DecompressionStream("gzip")
  const writer = writable.getWriter()
  let failure: unknown = null
  let [packedBytes, unpackedBytes] = [0, 0]
  const writeChunk = async (chunk: Uint8Array): Promise<void> => {
    packedBytes += chunk.byteLength
    // The buffer of a chunk is reused, so the chunk is copied. Compressed data is small enough for that.
    await writer.write(chunk.slice())
  }
  const writeInput = async (): Promise<void> => {
    await writeChunk(first)
    for await (const chunk of rest) await writeChunk(chunk)
    await writer.close()
  }
  const inputWritten = writeInput().catch((error: unknown) => {
    failure = error
    return writer.abort(error).catch(() => {})
  })
  try {
    for await (const chunk of readChunks(readable, NO_TIMES, { reason: "import_damaged" })) {
      unpackedBytes += chunk.byteLength
      if (unpackedBytes > Math.max(MIN_UNPACKED_BYTES, MAX_UNPACK_RATIO * packedBytes)) {
        throw new UnreadableUploadError({ reason: "import_inflated" })
      }
      yield chunk
    }
  } catch (error) {
    throw failure instanceof UnreadableUploadError ? failure : error
  } finally {
    // Cancels the upload if the caller returns early.
    await rest.return(undefined).catch(() => {})
    await inputWritten
  }
}
