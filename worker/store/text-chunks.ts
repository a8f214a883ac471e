/**
 * text-chunks.ts: writes growing text in chunks of bounded size, so that a delta rewrites one small row.
 *
 * The last chunk also stores the state of the part: whether it is open, its duration, the state of `clean`, and grants.
 */

import { MAX_TEXT_CHUNK_CHARS } from "../../shared/limits.ts"
import { findCutIndex } from "../../shared/text/cut-text.ts"
import type { TextChunk } from "./row-codec.ts"
import type { SessionStore } from "./session-store.ts"

export interface TextPartUpdate extends Omit<TextChunk, "n" | "text"> {
  /** Text added since the last write of this part. */
  readonly addedText: string
}

/** The last chunk of a part: its index and its text. */
interface ChunkCursor {
  n: number
  tail: string
}

export interface ChunkWriter {
  (seq: number, update: TextPartUpdate): void
  /** Deletes the text of a part that is rewritten from the start. */
  resetPart(part: number): void
}

/**
 * Creates a writer for the text of the message at `pos` (SPEC ST4). `isNew`: whether the message has no chunks yet.
 *
 * Cost: one row per call, plus one for every MAX_TEXT_CHUNK_CHARS of added text.
 */
export function createChunkWriter(store: SessionStore, pos: number, isNew = false): ChunkWriter {
  const cursors = new Map<number, ChunkCursor>()

  function writeChunks(seq: number, { addedText, ...update }: TextPartUpdate): void {
    const cursor = cursors.get(update.part) ?? (isNew ? { n: 0, tail: "" } : readCursor(store, pos, update.part))
    cursors.set(update.part, cursor)
    cursor.tail += addedText
    for (;;) {
      const chunkEnd = findCutIndex(cursor.tail, MAX_TEXT_CHUNK_CHARS)
      const isLast = chunkEnd === cursor.tail.length
      const { cut: _cut, grants: _grants, times: _times, ...rest } = update
      const state = isLast ? update : { ...rest, open: true, ms: null, held: null }
      store.putChunk(pos, seq, { ...state, n: cursor.n, text: cursor.tail.slice(0, chunkEnd) })
      if (isLast) return
      cursor.n += 1
      cursor.tail = cursor.tail.slice(chunkEnd)
    }
  }

  function resetPart(part: number): void {
    store.deleteChunks(pos, part)
    cursors.delete(part)
  }

  return Object.assign(writeChunks, { resetPart })
}

/** Reads the cursor from the rows, because a new object has nothing in memory. */
function readCursor(store: SessionStore, pos: number, part: number): ChunkCursor {
  const last = store.findLastChunk(pos, part)
  return last === null ? { n: 0, tail: "" } : { n: last.n, tail: last.text }
}
