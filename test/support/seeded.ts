/**
 * seeded.ts: runs property tests with a seed that is printed. The default seed is the same everywhere, so that any
 * failure is caused by the change under test. `FC_SEED=random npm test` explores with a new seed, `FC_SEED=…` repeats a
 * run, and `FC_RUNS=…` sets the number of runs.
 */

import fc from "fast-check"
import { test } from "vitest"

const DEFAULT_SEED = 586_031

const requestedSeed = process.env["FC_SEED"]
const seed = requestedSeed === "random" ? Math.floor(Math.random() * 2 ** 31) : Number(requestedSeed ?? DEFAULT_SEED)

const length = process.env["FC_RUNS"]
/** Whether everything is run (`RUNS=long`), including the tests that take many minutes each. */
export const IS_LONG = process.env["RUNS"] === "long"
/** Whether more is run than in `npm test`, from the same seed. `npm run check` sets `RUNS=full`. */
export const IS_FULL = IS_LONG || process.env["RUNS"] === "full"
const FULL_SHARE = 0.2
const SHORT_SHARE = 0.07

/** The number of runs of a property with `RUNS=long`. */
export const RUNS = Number(length ?? 10_000)

console.log(`property seed ${seed} (FC_SEED=${seed} repeats it)`)

/** Returns how many of a property's runs this test run performs. `fullShare` is the share that `RUNS=full` performs. */
export function shareOf(runs: number, fullShare = FULL_SHARE): number {
  if (IS_LONG || length !== undefined) return runs
  return Math.ceil(runs * (IS_FULL ? fullShare : SHORT_SHARE))
}

/**
 * Returns every nth case; with `RUNS=full` every `nInFull`th, and with `RUNS=long` all. Use it for cases that are slow
 * and similar.
 */
export function everyNth<T>(cases: readonly T[], n: number, nInFull = 1): readonly T[] {
  const step = IS_LONG ? 1 : IS_FULL ? nInFull : n
  return cases.filter((_, index) => index % step === 0)
}

/**
 * A slow test that `npm test` skips, because other tests prove its rules as well. rules.test.ts checks that they do.
 */
export const testInFull = IS_FULL ? test : test.skip

/** Asserts a property from the printed seed. `runs` is the number of runs with `RUNS=long`. */
export function assertProperty<T>(property: fc.IProperty<T>, runs = RUNS): void {
  fc.assert(property, { seed, numRuns: shareOf(runs) })
}

/** Like `assertProperty`, but for an asynchronous property. `fullShare` is the share that `RUNS=full` performs. */
export async function assertPropertyAsync<T>(
  property: fc.IAsyncProperty<T>,
  runs = RUNS,
  fullShare = FULL_SHARE,
): Promise<void> {
  await fc.assert(property, { seed, numRuns: shareOf(runs, fullShare) })
}

/** Cuts a string at some of its indices. */
export function cutsOf(text: string): fc.Arbitrary<string[]> {
  return fc.array(fc.nat({ max: Math.max(text.length, 0) }), { maxLength: 8 }).map((indices) => {
    const at = [...new Set([0, ...indices, text.length])].sort((a, b) => a - b)
    return at.slice(1).map((end, i) => text.slice(at[i], end))
  })
}
