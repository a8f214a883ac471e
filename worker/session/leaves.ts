/**
 * leaves.ts: writes a growing text as bounded leaves, so that a delta rewrites one small row.
 *
 * fold → LEAVES → store
 * The last leaf also carries whether the part is open, how long it thought, and what clean has not settled.
 */

import { MAX_LEAF_CHARS } from "../../shared/limits.ts"
import type { Leaf } from "./rows.ts"
import type { Store } from "./store.ts"

export interface LeafText {
  readonly part: number
  readonly kind: Leaf["kind"]
  readonly step: number
  readonly open: boolean
  readonly cut?: true
  readonly ms: number | null
  readonly held: string | null
  /** The whole text of the part so far; it only ever grows. */
  readonly text: string
}

/** Where the last leaf of a part begins, in UTF-16 code units. */
interface Place {
  n: number
  start: number
}

/**
 * Shapes  (Store, position of the message) → LeafWriter.
 * Cost    one row a call, and one more for every MAX_LEAF_CHARS that were added.
 * Source  SPEC ST4.
 */
export function createLeafWriter(store: Store, pos: number): LeafWriter {
  const places = new Map<number, Place>()
  const write = (seq: number, { text, ...leaf }: LeafText): void => {
    const place = places.get(leaf.part) ?? findPlace(store, pos, leaf.part)
    places.set(leaf.part, place)
    for (;;) {
      const end = leafEnd(text, place.start)
      const isLast = end === text.length
      const { cut: _, ...more } = leaf
      const tail = isLast ? leaf : { ...more, open: true, ms: null, held: null }
      store.putLeaf(pos, seq, { ...tail, n: place.n, text: text.slice(place.start, end) })
      if (isLast) return
      place.n += 1
      place.start = end
    }
  }
  const forget = (part: number): void => {
    store.dropLeaves(pos, part)
    places.delete(part)
  }
  return Object.assign(write, { forget })
}

export interface LeafWriter {
  (seq: number, text: LeafText): void
  /** The part begins anew: what it said is gone. */
  forget(part: number): void
}

/** Found from the rows: a fresh object has no memory of it. */
function findPlace(store: Store, pos: number, part: number): Place {
  const sizes = store.leafSizes(pos, part)
  const last = sizes.at(-1)
  if (last === undefined) return { n: 0, start: 0 }
  return { n: last.n, start: sizes.reduce((sum, size) => sum + size.chars, 0) - last.chars }
}

/** A leaf ends at its bound, never inside a surrogate pair: the store is UTF-8. */
function leafEnd(text: string, start: number): number {
  if (text.length - start <= MAX_LEAF_CHARS) return text.length
  const end = start + MAX_LEAF_CHARS
  const unit = text.charCodeAt(end - 1)
  return unit >= 0xd800 && unit < 0xdc00 ? end - 1 : end
}
