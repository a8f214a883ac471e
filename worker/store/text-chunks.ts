/**
 * text-chunks.ts: writes a growing text as bounded leaves, so that a delta rewrites one small row.
 *
 * fold → LEAVES → store
 * The last leaf also carries whether the part is open, how long it thought, what clean has not settled, and what its
 * directives were granted.
 */

import { MAX_TEXT_CHUNK_CHARS } from "../../shared/limits.ts"
import type { Grants } from "../../shared/protocol/message.ts"
import type { TextChunk } from "./row-codec.ts"
import type { SessionStore } from "./session-store.ts"

export interface TextPartUpdate {
  readonly part: number
  readonly kind: TextChunk["kind"]
  readonly step: number
  readonly open: boolean
  readonly cut?: true
  readonly ms: number | null
  readonly held: string | null
  readonly grants?: Grants
  /** What the part has gained since it was last written. */
  readonly addedText: string
}

/** The last leaf of a part, as it stands. */
interface ChunkCursor {
  n: number
  tail: string
}

export interface ChunkWriter {
  (seq: number, text: TextPartUpdate): void
  /** The part begins anew: what it said is gone. */
  resetPart(part: number): void
}

/**
 * Shapes  (Store, position of the message, whether it has no leaves yet) → LeafWriter.
 * Cost    one row a call, and one more for every MAX_TEXT_CHUNK_CHARS that were added; never the whole text.
 * Source  SPEC ST4.
 */
export function createChunkWriter(store: SessionStore, pos: number, isNew = false): ChunkWriter {
  const cursors = new Map<number, ChunkCursor>()
  const write = (seq: number, { addedText, ...update }: TextPartUpdate): void => {
    const cursor = cursors.get(update.part) ?? (isNew ? { n: 0, tail: "" } : readCursor(store, pos, update.part))
    cursors.set(update.part, cursor)
    cursor.tail += addedText
    for (;;) {
      const chunkEnd = findChunkEnd(cursor.tail)
      const isLast = chunkEnd === cursor.tail.length
      const { cut: _cut, grants: _grants, ...rest } = update
      const state = isLast ? update : { ...rest, open: true, ms: null, held: null }
      store.putChunk(pos, seq, { ...state, n: cursor.n, text: cursor.tail.slice(0, chunkEnd) })
      if (isLast) return
      cursor.n += 1
      cursor.tail = cursor.tail.slice(chunkEnd)
    }
  }
  const resetPart = (part: number): void => {
    store.deleteChunks(pos, part)
    cursors.delete(part)
  }
  return Object.assign(write, { resetPart })
}

/** Found from the rows: a fresh object has no memory of it. */
function readCursor(store: SessionStore, pos: number, part: number): ChunkCursor {
  const last = store.findLastChunk(pos, part)
  return last === null ? { n: 0, tail: "" } : { n: last.n, tail: last.text }
}

/** A leaf ends at its bound, never inside a surrogate pair: the store is UTF-8. */
function findChunkEnd(text: string): number {
  if (text.length <= MAX_TEXT_CHUNK_CHARS) return text.length
  const codeUnit = text.charCodeAt(MAX_TEXT_CHUNK_CHARS - 1)
  return codeUnit >= 0xd800 && codeUnit < 0xdc00 ? MAX_TEXT_CHUNK_CHARS - 1 : MAX_TEXT_CHUNK_CHARS
}
