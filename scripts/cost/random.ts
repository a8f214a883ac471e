/** random.ts: a seeded generator, so that a simulation can be repeated. */

export interface Random {
  /** Returns a number that is evenly distributed in [0, 1). */
  next(): number
  /** Returns a whole number in [0, below). */
  below(below: number): number
  /** Returns a number that is exponentially distributed with this mean. */
  exponential(mean: number): number
  /** Returns a number that is geometrically distributed with this mean, starting at 1. */
  geometric(mean: number): number
  poisson(mean: number): number
  /** Returns a number that is normally distributed with mean 0 and standard deviation 1. */
  normal(): number
}

/** Mulberry32: 32 bits of state, which is enough for a simulation but not for security. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const poisson = (mean: number): number => {
    const limit = Math.exp(-mean)
    let [count, product] = [0, next()]
    while (product > limit) {
      count += 1
      product *= next()
    }
    return count
  }
  return {
    next,
    below: (below) => Math.floor(next() * below),
    exponential: (mean) => -Math.log(1 - next()) * mean,
    geometric: (mean) => 1 + Math.floor(Math.log(1 - next()) / Math.log(1 - 1 / mean)),
    poisson,
    // The Box–Muller transform.
    normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
  }
}
