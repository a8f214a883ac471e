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

/** The rest of an upload cannot be read. The lines before it were already returned. */
export class UnreadableUploadError extends Error {
  readonly fault: Fault
  constructor(fault: Fault) {
    super(fault.reason)
    this.fault = fault
  }
}

const CHUNK_BYTES = 64 * 1024

/**
 * Yields the lines of each chunk. Blank lines are counted but omitted.
 *
 * Errors: throws `UnreadableUploadError` beyond MAX_IMPORT_BYTES, compressed or not, for damaged gzip data, if the upload
 * breaks off, and after `idleMs` without data. The stream is then cancelled and the rest is not read.
 * Cost: linear, with the memory of one chunk and the longest line.
 */
export async function* readUploadLines(
  body: ReadableStream<Uint8Array>,
  idleMs: number,
): AsyncGenerator<readonly Line[]> {
  const splitter = createLineSplitter(MAX_IMPORT_LINE_BYTES)
  const chunks = readChunks(body, idleMs, { reason: "import_stalled" })
  for await (const chunk of decompressIfGzip(limitBytes(chunks))) yield splitter.push(chunk)
  yield splitter.end()
}

/**
 * Yields chunks that are valid until the next one is requested. Returning early cancels the stream. A stream that fails
 * throws `UnreadableUploadError` with this fault.
 */
async function* readChunks(body: ReadableStream<Uint8Array>, idleMs: number, fault: Fault): AsyncGenerator<Uint8Array> {
  const reader = body.getReader({ mode: "byob" })
  let buffer = new ArrayBuffer(CHUNK_BYTES)
  try {
    for (;;) {
      const reading = reader.read(new Uint8Array(buffer)).catch(() => {
        throw new UnreadableUploadError(fault)
      })
      const { done, value } = await withTimeout(reading, idleMs, createStallError)
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

async function* limitBytes(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.byteLength
    if (bytes > MAX_IMPORT_BYTES) throw new UnreadableUploadError({ reason: "import_too_large", max: MAX_IMPORT_BYTES })
    yield chunk
  }
}

/** Detects gzip by its first two bytes, whatever the request's headers declare. */
async function* decompressIfGzip(chunks: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  const first = await chunks.next()
  if (first.done === true) return
  if (first.value[0] === 0x1f && first.value[1] === 0x8b) return yield* limitBytes(gunzipChunks(first.value, chunks))
  yield first.value
  yield* chunks
}

/** Decompression waits only for the upload, which has a timeout of its own. */
const NO_TIMEOUT_MS = 2 ** 31 - 1

async function* gunzipChunks(first: Uint8Array, rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { readable, writable } = new DecompressionStream("gzip")
  const writer = writable.getWriter()
  let failure: unknown = null
  const writeInput = async (): Promise<void> => {
    // The buffer of a chunk is reused, so the chunk is copied. Compressed data is small enough for that.
    await writer.write(first.slice())
    for await (const chunk of rest) await writer.write(chunk.slice())
    await writer.close()
  }
  const inputWritten = writeInput().catch((error: unknown) => {
    failure = error
    return writer.abort(error).catch(() => {})
  })
  try {
    yield* readChunks(readable, NO_TIMEOUT_MS, { reason: "import_damaged" })
  } catch (error) {
    throw failure instanceof UnreadableUploadError ? failure : error
  } finally {
    // Cancels the upload if the caller returns early.
    await rest.return(undefined).catch(() => {})
    await inputWritten
  }
}
