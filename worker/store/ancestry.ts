/**
 * ancestry.ts: the way up from a message to its ancestors, in few steps.
 *
 * Each message points to its parent and to one far up: jumps reach back by powers of two, so that any ancestor is found
 * by a logarithm of the messages between. Where a message stands among its ancestors never changes.
 */

import { type Ancestry, rowToAncestry, type Row } from "./row-codec.ts"

/** Places that are remembered: those that a growing path leads back by are met again and again. */
const MAX_CACHED_ANCESTRIES = 64

export type AncestryIndex = ReturnType<typeof createAncestryIndex>

/** `first` reads one row of the session's tables. Cost: a row for each step that is not remembered. */
export function createAncestryIndex(queryFirst: (query: string, pos: number) => Row | null) {
  const cache = new Map<number, Ancestry>()
  const cacheAncestry = (ancestry: Ancestry): Ancestry => {
    const oldest = cache.size < MAX_CACHED_ANCESTRIES ? undefined : cache.keys().next().value
    if (oldest !== undefined) cache.delete(oldest)
    cache.set(ancestry.pos, ancestry)
    return ancestry
  }
  const readAncestry = (pos: number | null): Ancestry | null => {
    if (pos === null) return null
    const row = cache.has(pos) ? null : queryFirst("SELECT pos, parent, depth, jump FROM transcript WHERE pos = ?", pos)
    return cache.get(pos) ?? (row === null ? null : cacheAncestry(rowToAncestry(row)))
  }
  return {
    /** A message that was just stored. */
    remember: cacheAncestry,
    /** Depth and jump of a message under this parent. */
    childAncestry(parentPos: number | null): Pick<Ancestry, "depth" | "jump"> {
      const parent = readAncestry(parentPos)
      if (parent === null) return { depth: 0, jump: null }
      const near = readAncestry(parent.jump)
      const far = near === null ? null : readAncestry(near.jump)
      const isEven = near !== null && far !== null && parent.depth - near.depth === near.depth - far.depth
      return { depth: parent.depth + 1, jump: isEven ? far.pos : parent.pos }
    },
    /** Whether the path that ends at `tip` leads through the message at `pos`. */
    isOnPathTo(tip: number, pos: number): boolean {
      const target = readAncestry(pos)
      let current = readAncestry(tip)
      while (target !== null && current !== null && current.depth > target.depth) {
        const jump = readAncestry(current.jump)
        current = jump !== null && jump.depth >= target.depth ? jump : readAncestry(current.parent)
      }
      return target !== null && current?.pos === pos
    },
  }
}
