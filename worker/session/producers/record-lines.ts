/**
 * record-lines.ts: the lines of a request body, one at a time, while it is still being sent.
 *
 * Every received chunk is reported, even one with only a line break, because it extends the producer's deadline. If the
 * body is cut off, its incomplete last line is dropped.
 */

import { fail } from "../../../shared/fault.ts"
import { MAX_RECORD_BYTES } from "../../../shared/limits.ts"
import { createLineSplitter, type Line } from "../../../shared/ingest/line-splitter.ts"

export interface RecordLine extends Line {
  /** Set if the line exceeds MAX_OVERLONG_BYTES. Reading stops in the middle of such a line. */
  readonly isOverlong?: true
}

/** The reason why the lines ended; null if the body broke off, or is still being read. */
export type RecordLinesEnd = "body" | "silence" | "stop" | null

export interface RecordLineReader {
  /** Ends with the body, after `stopReading`, or after `silenceMs` without a byte. Throws if the body breaks off. */
  readLines(): AsyncGenerator<RecordLine>
  /** Cancels the body. A pending read ends without a further line. */
  stopReading(): void
  endedBy(): RecordLinesEnd
}

/** Reading stops if a line exceeds this size, in bytes. Shorter lines over the limit are refused one by one. */
const MAX_OVERLONG_BYTES = 4 * MAX_RECORD_BYTES

/**
 * Creates a reader for the lines of a body. Blank lines are skipped.
 *
 * Cost: linear in the size of the body; memory for one line.
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
    // Cancels the body, which tells a client that is still sending to stop.
    if (end !== "body") reader?.cancel().catch(() => {})
  }
  /** Reads the next chunk; null if reading has ended. */
  const readNext = async (from: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | null> => {
    const timer = setTimeout(() => endWith("silence"), silenceMs)
    try {
      // A new promise for each chunk: a long-lived one would retain everything that was raced against it.
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
