/**
 * record-lines.ts: the lines of a body that is still being sent, one at a time, as they come.
 *
 * request body → FEED (splitter) → lines
 * Each chunk is a sign of life, also one that holds nothing but a line's end. A line that a break cuts in two is not told.
 */

import { fail } from "../../shared/fault.ts"
import { MAX_RECORD_BYTES } from "../../shared/limits.ts"
import { createLineSplitter, type Line } from "../../shared/ingest/line-splitter.ts"

export interface RecordLine extends Line {
  /** It is so long that its end was not waited for: nothing comes after it. */
  readonly isOverlong?: true
}

/** How the lines came to their end; null: the body broke off, or goes on. */
export type RecordLinesEnd = "body" | "silence" | "stop" | null

export interface RecordLineReader {
  /** Ends with the body, with `stop`, or after `silenceMs` without a byte. Throws where the body breaks off. */
  readLines(): AsyncGenerator<RecordLine>
  /** Nothing more is read; who reads now gets no further line. */
  stopReading(): void
  endedBy(): RecordLinesEnd
}

/** A line of so many bytes is no mistake, in bytes: its end is not waited for. */
const MAX_OVERLONG_BYTES = 4 * MAX_RECORD_BYTES

/**
 * Shapes  (body, silenceMs, onLife) → Feed; blank lines are passed over.
 * Cost    linear; the memory of one line.
 */
export function createRecordLineReader(
  body: ReadableStream<Uint8Array> | null,
  silenceMs: number,
  onBytes: (bytes: number) => void,
): RecordLineReader {
  const reader = body?.getReader() ?? null
  let endReason: RecordLinesEnd = null
  let wake = (): void => {}
  const endWith = (end: RecordLinesEnd): void => {
    if (endReason !== null) return
    endReason = end
    wake()
    // Whoever still sends learns that nobody reads.
    if (end !== "body") reader?.cancel().catch(() => {})
  }
  /** The next chunk; null: nothing more is read. */
  const readNext = async (from: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | null> => {
    const timer = setTimeout(() => endWith("silence"), silenceMs)
    try {
      // A promise of its own each time: one that lasts keeps all that was ever raced against it.
      const next = await new Promise<ReadableStreamReadResult<Uint8Array> | null>((resolve, reject) => {
        wake = () => resolve(null)
        from.read().then(resolve, reject)
      })
      if (next !== null && !next.done) return next.value
      endWith("body")
      return null
    } finally {
      clearTimeout(timer)
    }
  }
  async function* readLines(): AsyncGenerator<RecordLine> {
    const lineSplitter = createLineSplitter(MAX_RECORD_BYTES)
    while (reader !== null && endReason === null) {
      const chunk = await readNext(reader)
      if (chunk === null) break
      onBytes(chunk.byteLength)
      if (endReason === null) yield* lineSplitter.push(chunk)
      if (lineSplitter.pendingBytes() <= MAX_OVERLONG_BYTES) continue
      yield {
        n: lineSplitter.nextLineNumber(),
        text: fail({ reason: "body_too_large", max: MAX_RECORD_BYTES }),
        isOverlong: true,
      }
      return
    }
    if (endReason === "body" || reader === null) yield* lineSplitter.end()
  }
  return { readLines, stopReading: () => endWith("stop"), endedBy: () => (reader === null ? "body" : endReason) }
}
