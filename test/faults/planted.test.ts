/** planted.test.ts: the suite can fail: each planted bug is found, and the same plan without it finds nothing. */

import { expect, test } from "vitest"
import { BROKEN_BY, BUGS, planFor } from "./planted.ts"
import { runPlan } from "./run.ts"
import type { Rule } from "./violation.ts"

/** A kill may miss a window of 50 ms on a busy machine: so often it is tried. */
const TRIES = 5
/** What a bug has broken never comes: no need to wait for it as long as for a busy server. */
const PATIENCE_MS = 1_200

test.each(BUGS)("[FS4] the suite finds %s", async (bug) => {
  const wanted: readonly Rule[] = BROKEN_BY[bug]
  for (let seed = 1; seed <= TRIES; seed++) {
    const { violations } = await runPlan(planFor(bug, seed), { PLANT: bug }, PATIENCE_MS)
    const found = violations.map(({ rule }) => rule)
    if (found.some((rule) => wanted.includes(rule))) return
  }
  expect.fail(`${bug} was not found in ${TRIES} tries`)
})

test("[FS4] the plans that find them find nothing without them", async () => {
  const plans = BUGS.map((bug) => planFor(bug, 1))
  const { violations } = await runPlan({
    seed: 1,
    model: "scripted",
    sessions: plans.flatMap(({ sessions }) => sessions),
  })
  expect(violations).toEqual([])
})
