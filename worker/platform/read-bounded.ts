/**
 * read-bounded.ts: reads streams of unknown length without buffering more than the caller allows.
 */

type Bytes = Uint8Array<ArrayBuffer>

/**
 * Reads a stream to its end. Returns null, and cancels the stream, if it contains more than `maxBytes`.
 *
 * Errors: throws the signal's reason, and cancels the stream, when the signal is aborted.
 */
export async function readBounded(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
  signal?: AbortSignal,
): Promise<Bytes | null> {
  const reader = new BodyReader(body)
  // Cancelling the body unblocks a pending read.
  const cancel = (): void => void reader.cancel(signal?.reason).catch(() => {})
  signal?.addEventListener("abort", cancel)
  try {
    signal?.throwIfAborted()
    const chunks: Uint8Array[] = []
    let length = 0
    for (let chunk = await reader.read(); chunk !== null; chunk = await reader.read()) {
      length += chunk.byteLength
      if (length > maxBytes) {
        cancel()
        return null
      }
      chunks.push(chunk)
    }
    signal?.throwIfAborted()
    return await joinChunks(chunks)
  } finally {
    signal?.removeEventListener("abort", cancel)
  }
}

async function joinChunks(chunks: readonly Uint8Array[]): Promise<Bytes> {
  return new Uint8Array(await new Blob([...chunks]).arrayBuffer())
}

/** Reads a body from its beginning, and can look ahead at its first bytes. */
export class BodyReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  /** Chunks that `peek` has read but `read` has not yet returned. */
  readonly #buffered: Uint8Array[] = []

  constructor(body: ReadableStream<Uint8Array> | null) {
    this.#reader = body?.getReader()
  }

  /** Returns the first `count` bytes, or fewer if the body is shorter. Must not be called after `read`. */
  async peek(count: number): Promise<Bytes> {
    let length = this.#buffered.reduce((sum, chunk) => sum + chunk.byteLength, 0)
    while (length < count) {
      const chunk = await this.#readChunk()
      if (chunk === null) break
      this.#buffered.push(chunk)
      length += chunk.byteLength
    }
    return (await joinChunks(this.#buffered)).subarray(0, count)
  }

  /** Returns the next chunk, including those that `peek` has seen; null at the end. */
  async read(): Promise<Uint8Array | null> {
    return this.#buffered.shift() ?? (await this.#readChunk())
  }

  async *readAll(): AsyncGenerator<Uint8Array> {
    for (let chunk = await this.read(); chunk !== null; chunk = await this.read()) yield chunk
  }

  /** Reads and drops the rest of the body, up to `maxBytes`. */
  async drain(maxBytes: number): Promise<void> {
    let bytesLeft = maxBytes
    for (let chunk = await this.#readChunk(); chunk !== null && bytesLeft > 0; chunk = await this.#readChunk())
      bytesLeft -= chunk.byteLength
    await this.cancel()
  }

  async cancel(reason?: unknown): Promise<void> {
    await this.#reader?.cancel(reason)
  }

  async #readChunk(): Promise<Uint8Array | null> {
    const next = await this.#reader?.read()
    return next === undefined || next.done ? null : next.value
  }
}
