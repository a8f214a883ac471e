/**
 * record-lines.ts: the lines of a body that is still being sent, one at a time, as they come.
 *
 * request body → FEED (splitter) → lines
 * Each chunk is a sign of life, also one that holds nothing but a line's end. A line that a break cuts in two is not told.
 */

import { fail } from "../../shared/fault.ts"
import { MAX_RECORD_BYTES } from "../../shared/limits.ts"
import { createSplitter, type Line } from "../../shared/ingest/line-splitter.ts"

export interface FeedLine extends Line {
  /** It is so long that its end was not waited for: nothing comes after it. */
  readonly isEndless?: true
}

/** How the lines came to their end; null: the body broke off, or goes on. */
export type FeedEnd = "body" | "silence" | "stop" | null

export interface Feed {
  /** Ends with the body, with `stop`, or after `silenceMs` without a byte. Throws where the body breaks off. */
  lines(): AsyncGenerator<FeedLine>
  /** Nothing more is read; who reads now gets no further line. */
  stop(): void
  ended(): FeedEnd
}

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
  let ended: FeedEnd = null
  let wake = (): void => {}
  const endWith = (end: FeedEnd): void => {
    if (ended !== null) return
    ended = end
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
  async function* lines(): AsyncGenerator<FeedLine> {
    const splitter = createSplitter(MAX_RECORD_BYTES)
    while (reader !== null && ended === null) {
      const chunk = await readNext(reader)
      if (chunk === null) break
      onLife(chunk.byteLength)
      if (ended === null) yield* splitter.push(chunk)
      if (splitter.held() <= MAX_ENDLESS_BYTES) continue
      yield { n: splitter.next(), text: fail({ reason: "body_too_large", max: MAX_RECORD_BYTES }), isEndless: true }
      return
    }
    if (ended === "body" || reader === null) yield* splitter.end()
  }
  return { lines, stop: () => endWith("stop"), ended: () => (reader === null ? "body" : ended) }
}
