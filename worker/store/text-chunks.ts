/**
 * text-chunks.ts: writes a growing text as bounded leaves, so that a delta rewrites one small row.
 *
 * fold → LEAVES → store
 * The last leaf also carries whether the part is open, how long it thought, what clean has not settled, and what its
 * directives were granted.
 */

import { MAX_LEAF_CHARS } from "../../shared/limits.ts"
import type { Grants } from "../../shared/protocol/message.ts"
import type { Leaf } from "./row-codec.ts"
import type { Store } from "./session-store.ts"

export interface LeafText {
  readonly part: number
  readonly kind: Leaf["kind"]
  readonly step: number
  readonly open: boolean
  readonly cut?: true
  readonly ms: number | null
  readonly held: string | null
  readonly grants?: Grants
  /** What the part has gained since it was last written. */
  readonly fresh: string
}

/** The last leaf of a part, as it stands. */
interface Place {
  n: number
  tail: string
}

export interface LeafWriter {
  (seq: number, text: LeafText): void
  /** The part begins anew: what it said is gone. */
  forget(part: number): void
}

/**
 * Shapes  (Store, position of the message, whether it has no leaves yet) → LeafWriter.
 * Cost    one row a call, and one more for every MAX_LEAF_CHARS that were added; never the whole text.
 * Source  SPEC ST4.
 */
export function createLeafWriter(store: Store, pos: number, isNew = false): LeafWriter {
  const places = new Map<number, Place>()
  const write = (seq: number, { fresh, ...leaf }: LeafText): void => {
    const place = places.get(leaf.part) ?? (isNew ? { n: 0, tail: "" } : findPlace(store, pos, leaf.part))
    places.set(leaf.part, place)
    place.tail += fresh
    for (;;) {
      const end = leafEnd(place.tail)
      const isLast = end === place.tail.length
      const { cut: _cut, grants: _grants, ...more } = leaf
      const state = isLast ? leaf : { ...more, open: true, ms: null, held: null }
      store.putLeaf(pos, seq, { ...state, n: place.n, text: place.tail.slice(0, end) })
      if (isLast) return
      place.n += 1
      place.tail = place.tail.slice(end)
    }
  }
  const forget = (part: number): void => {
    store.dropLeaves(pos, part)
    places.delete(part)
  }
  return Object.assign(write, { forget })
}

/** Found from the rows: a fresh object has no memory of it. */
function findPlace(store: Store, pos: number, part: number): Place {
  const last = store.lastLeaf(pos, part)
  return last === null ? { n: 0, tail: "" } : { n: last.n, tail: last.text }
}

/** A leaf ends at its bound, never inside a surrogate pair: the store is UTF-8. */
function leafEnd(text: string): number {
  if (text.length <= MAX_LEAF_CHARS) return text.length
  const unit = text.charCodeAt(MAX_LEAF_CHARS - 1)
  return unit >= 0xd800 && unit < 0xdc00 ? MAX_LEAF_CHARS - 1 : MAX_LEAF_CHARS
}
