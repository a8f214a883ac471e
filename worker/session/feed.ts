/**
 * feed.ts: the lines of a body that is still being sent, one at a time, as they come.
 *
 * request body → FEED → lines
 * Each chunk is a sign of life, also one that holds nothing but a line's end. A line that a break cuts in two is not
 * told. UTF-8 is decoded line by line, so that a broken one costs itself alone.
 */

import { type Fault, fail, type Result, succeed } from "../../shared/fault.ts"
import { MAX_RECORD_BYTES } from "../../shared/limits.ts"

export interface FeedLine {
  /** From 1; blank lines count. */
  readonly n: number
  /** Its words, or why it has none: it is too long, or no UTF-8. */
  readonly text: Result<string, Fault>
  /** It is so long that its end was not waited for: nothing comes after it. */
  readonly isEndless?: true
}

export interface Feed {
  /** Ends with the body, with `stop`, or after `silenceMs` without a byte. Throws where the body breaks off. */
  lines(): AsyncGenerator<FeedLine>
  /** Nothing more is read; who reads now gets no further line. */
  stop(): void
}

const NEWLINE = 0x0a

/** A line of so many bytes is no mistake, in bytes: its end is not waited for. */
const MAX_ENDLESS_BYTES = 4 * MAX_RECORD_BYTES

/**
 * Shapes  (body, silenceMs, onLife) → Feed; blank lines are passed over.
 * Cost    linear; the memory of one line.
 */
export function createFeed(
  body: ReadableStream<Uint8Array> | null,
  silenceMs: number,
  onLife: (bytes: number) => void,
): Feed {
  const reader = body?.getReader() ?? null
  const { promise: stopped, resolve: end } = Promise.withResolvers<null>()
  let isStopped = false
  const stop = (): void => {
    if (isStopped) return
    isStopped = true
    end(null)
    // Whoever still sends learns that nobody reads.
    reader?.cancel().catch(() => {})
  }
  async function* chunks(): AsyncGenerator<Uint8Array> {
    while (reader !== null) {
      const timer = setTimeout(stop, silenceMs)
      const next = await Promise.race([reader.read(), stopped]).finally(() => clearTimeout(timer))
      if (next === null || next.done || isStopped) return
      onLife(next.value.byteLength)
      if (isStopped) return
      yield next.value
    }
  }
  return { stop, lines: () => linesOf(chunks(), () => isStopped) }
}

async function* linesOf(chunks: AsyncIterable<Uint8Array>, isStopped: () => boolean): AsyncGenerator<FeedLine> {
  let held: Uint8Array[] = []
  let heldBytes = 0
  let n = 0
  const take = (last: Uint8Array): FeedLine | null => {
    n += 1
    const isTooLong = heldBytes + last.byteLength > MAX_RECORD_BYTES
    const text = isTooLong ? fail<Fault>({ reason: "body_too_large", max: MAX_RECORD_BYTES }) : decode([...held, last])
    held = []
    heldBytes = 0
    return text.ok && text.value.trim() === "" ? null : { n, text }
  }
  for await (const chunk of chunks) {
    let from = 0
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      const line = take(chunk.subarray(from, at))
      from = at + 1
      if (line !== null) yield line
    }
    // What is too long already need not be kept to be told so.
    if (heldBytes <= MAX_RECORD_BYTES) held.push(chunk.slice(from))
    heldBytes += chunk.byteLength - from
    if (heldBytes <= MAX_ENDLESS_BYTES) continue
    yield { n: n + 1, text: fail({ reason: "body_too_large", max: MAX_RECORD_BYTES }), isEndless: true }
    return
  }
  const last = heldBytes > 0 && !isStopped() ? take(new Uint8Array()) : null
  if (last !== null) yield last
}

function decode(chunks: readonly Uint8Array[]): Result<string, Fault> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false })
  try {
    return succeed(chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode())
  } catch {
    return fail({ reason: "body_malformed" })
  }
}
