/**
 * ancestry.ts: the way up from a message to its ancestors, in few steps.
 *
 * Each message points to its parent and to one far up: jumps reach back by powers of two, so that any ancestor is found
 * by a logarithm of the messages between. Where a message stands among its ancestors never changes.
 */

import { type Climb, climbOf, type Row } from "./row-codec.ts"

/** Places that are remembered: those that a growing path leads back by are met again and again. */
const MAX_CLIMBS = 64

export type Climbs = ReturnType<typeof createClimbs>

/** `first` reads one row of the session's tables. Cost: a row for each step that is not remembered. */
export function createClimbs(first: (query: string, pos: number) => Row | null) {
  const known = new Map<number, Climb>()
  const remember = (climb: Climb): Climb => {
    const oldest = known.size < MAX_CLIMBS ? undefined : known.keys().next().value
    if (oldest !== undefined) known.delete(oldest)
    known.set(climb.pos, climb)
    return climb
  }
  const at = (pos: number | null): Climb | null => {
    if (pos === null) return null
    const row = known.has(pos) ? null : first("SELECT pos, parent, depth, jump FROM transcript WHERE pos = ?", pos)
    return known.get(pos) ?? (row === null ? null : remember(climbOf(row)))
  }
  return {
    /** A message that was just stored. */
    remember,
    /** Depth and jump of a message under this parent. */
    under(pos: number | null): Pick<Climb, "depth" | "jump"> {
      const parent = at(pos)
      if (parent === null) return { depth: 0, jump: null }
      const near = at(parent.jump)
      const far = near === null ? null : at(near.jump)
      const isEven = near !== null && far !== null && parent.depth - near.depth === near.depth - far.depth
      return { depth: parent.depth + 1, jump: isEven ? far.pos : parent.pos }
    },
    /** Whether the path that ends at `tip` leads through the message at `pos`. */
    leads(tip: number, pos: number): boolean {
      const target = at(pos)
      let here = at(tip)
      while (target !== null && here !== null && here.depth > target.depth) {
        const jump = at(here.jump)
        here = jump !== null && jump.depth >= target.depth ? jump : at(here.parent)
      }
      return target !== null && here?.pos === pos
    },
  }
}
