/**
 * upload-lines.ts: the lines of an uploaded file, as many at a time as came in, packed or not.
 *
 * bytes (gzip or plain) → LINES
 * Read into one buffer that is used again: an object that is given a buffer for each chunk grows by most of the file
 * before any of them is collected.
 */

import type { Fault } from "../../shared/fault.ts"
import { MAX_IMPORT_BYTES, MAX_IMPORT_LINE_BYTES } from "../../shared/limits.ts"
import { createLineSplitter, type Line } from "../../shared/ingest/line-splitter.ts"

/** An upload that cannot be read to its end; what came before was given. */
export class UnreadableUploadError extends Error {
  readonly fault: Fault
  constructor(fault: Fault) {
    super(fault.reason)
    this.fault = fault
  }
}

/** Bytes that are read at a time. */
const CHUNK_BYTES = 64 * 1024

/**
 * Shapes  byte stream, milliseconds of silence that are too many → lines; blank ones are passed over but counted.
 * Errors  throws `Unreadable` beyond MAX_IMPORT_BYTES, packed or unpacked, where gzip is damaged, where it breaks off
 *         and after that silence. The stream is cancelled then: what is still to come is not read.
 * Cost    linear; the memory of one chunk and of the longest line.
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
 * Each chunk is good until the next one is asked for. Whoever leaves early cancels the stream; one that breaks off is
 * `Unreadable` with this fault.
 */
async function* readChunks(body: ReadableStream<Uint8Array>, idleMs: number, fault: Fault): AsyncGenerator<Uint8Array> {
  const reader = body.getReader({ mode: "byob" })
  let buffer = new ArrayBuffer(CHUNK_BYTES)
  try {
    for (;;) {
      const reading = reader.read(new Uint8Array(buffer)).catch(() => {
        throw new UnreadableUploadError(fault)
      })
      const { done, value } = await readWithTimeout(reading, idleMs)
      if (value !== undefined) buffer = value.buffer
      if (done || value === undefined) return
      yield value
    }
  } finally {
    // A stream that failed has nothing to be cancelled.
    await reader.cancel().catch(() => {})
  }
}

async function readWithTimeout<T>(reading: Promise<T>, idleMs: number): Promise<T> {
  const { promise: timedOut, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new UnreadableUploadError({ reason: "import_stalled" })), idleMs)
  try {
    return await Promise.race([reading, timedOut])
  } finally {
    clearTimeout(timer)
  }
}

async function* limitBytes(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.byteLength
    if (bytes > MAX_IMPORT_BYTES) throw new UnreadableUploadError({ reason: "import_too_large", max: MAX_IMPORT_BYTES })
    yield chunk
  }
}

/** Gzip is told by its first two bytes, whatever the request says. */
async function* decompressIfGzip(chunks: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  const first = await chunks.next()
  if (first.done === true) return
  if (first.value[0] === 0x1f && first.value[1] === 0x8b) return yield* limitBytes(gunzipChunks(first.value, chunks))
  yield first.value
  yield* chunks
}

async function* gunzipChunks(first: Uint8Array, rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { readable, writable } = new DecompressionStream("gzip")
  const writer = writable.getWriter()
  let failure: unknown = null
  const writeInput = async (): Promise<void> => {
    // Chunks live in a buffer that is used again; what is packed is small enough to be copied.
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
    // Whoever leaves early wants no more of what is packed either.
    await rest.return(undefined).catch(() => {})
    await inputWritten
  }
}

/** Unpacking waits for nobody but the upload, which has a limit of its own. */
const NO_TIMEOUT_MS = 2 ** 31 - 1
