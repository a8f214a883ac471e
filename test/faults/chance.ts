/** chance.ts: a seeded random number generator: the same seed gives the same plan. */

export interface Chance {
  /** 0 to max − 1. */
  int(max: number): number
  /** From `low` to `high`, inclusive. */
  between(low: number, high: number): number
  pick<T>(list: readonly T[]): T
  /** True with this probability, 0 to 1. */
  odds(share: number): boolean
  /** 0 to 1, used in place of `Math.random()`. */
  real(): number
}

/** Mulberry32: small, fast, and good enough to choose faults. */
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
