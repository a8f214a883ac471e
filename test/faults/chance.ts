/** chance.ts: a seeded random number generator, so that the same seed always gives the same plan. */

export interface Chance {
  /** Returns an integer from 0 to max − 1. */
  int(max: number): number
  /** Returns an integer from `low` to `high`, inclusive. */
  between(low: number, high: number): number
  pick<T>(list: readonly T[]): T
  /** Returns true with the given probability (0 to 1). */
  odds(share: number): boolean
  /** Returns a number from 0 (inclusive) to 1 (exclusive), in place of `Math.random()`. */
  real(): number
}

/** Creates a generator with the algorithm Mulberry32, which is small, fast, and good enough to choose faults. */
export function createChance(seed: number): Chance {
  let state = seed >>> 0
  const real = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (max: number): number => Math.floor(real() * max)
  return {
    int,
    real,
    between: (low, high) => low + int(high - low + 1),
    odds: (share) => real() < share,
    pick(list) {
      const found = list[int(list.length)]
      if (found === undefined) throw new Error("nothing to pick from")
      return found
    },
  }
}
