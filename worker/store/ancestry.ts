/**
 * ancestry.ts: finds ancestors of a message in logarithmic time.
 *
 * Each row stores its parent, its depth and a jump pointer to a far ancestor. Jumps cover powers of two, so any
 * ancestor is found in a number of steps that is logarithmic in the distance. These columns never change once written.
 */

import { BoundedMap } from "../platform/bounded-map.ts"
import type { Database } from "./database.ts"
import { type Ancestry, rowToAncestry } from "./row-codec.ts"

/** Maximum number of cached rows. Successive searches from the end of a growing path mostly read the same rows. */
const MAX_CACHED_ANCESTRIES = 64

export type AncestryIndex = ReturnType<typeof createAncestryIndex>

/** Creates the functions that find ancestors. Cost: one row read for each step that is not cached. */
export function createAncestryIndex({ queryFirst }: Pick<Database, "queryFirst">) {
  const cache = new BoundedMap<number, Ancestry>(MAX_CACHED_ANCESTRIES)

  function rememberAncestry(ancestry: Ancestry): void {
    cache.set(ancestry.pos, ancestry)
  }

  function readAncestry(pos: number | null): Ancestry | null {
    if (pos === null) return null
    const cached = cache.get(pos)
    if (cached !== undefined) return cached
    const row = queryFirst("SELECT pos, parent, depth, jump FROM transcript WHERE pos = ?", pos)
    if (row === null) return null
    const ancestry = rowToAncestry(row)
    rememberAncestry(ancestry)
    return ancestry
  }

  /**
   * Returns the ancestor of a message at `depth`, or the message itself if it is no deeper than that. Null if there is
   * no such message.
   */
  function findAncestor(from: number, depth: number): number | null {
    let current = readAncestry(from)
    while (current !== null && current.depth > depth) {
      const jump = readAncestry(current.jump)
      current = jump !== null && jump.depth >= depth ? jump : readAncestry(current.parent)
    }
    return current?.pos ?? null
  }

  return {
    /** Caches a message that was just stored. */
    remember: rememberAncestry,

    /** Returns the depth and the jump pointer of a new message under this parent. */
    findChildAncestry(parentPos: number | null): Pick<Ancestry, "depth" | "jump"> {
      const parent = readAncestry(parentPos)
      if (parent === null) return { depth: 0, jump: null }
      const near = readAncestry(parent.jump)
      const far = near === null ? null : readAncestry(near.jump)
      const hasEqualJumps = near !== null && far !== null && parent.depth - near.depth === near.depth - far.depth
      return { depth: parent.depth + 1, jump: hasEqualJumps ? far.pos : parent.pos }
    },

    readAncestry,

    findAncestor,

    /** Whether the path that ends at `tip` contains the message at `pos`. */
    isOnPathTo(tip: number, pos: number): boolean {
      const target = readAncestry(pos)
      return target !== null && findAncestor(tip, target.depth) === pos
    },
  }
}
