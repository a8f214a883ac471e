/** planted.test.ts: the suite can fail: each planted bug is found, and the same plan without it finds nothing. */

import { expect, test } from "vitest"
import { BUGS, planFor } from "./planted.ts"
import { runPlan } from "./run.ts"
import { triesToFind } from "./series.ts"

test.each(BUGS)("[FS4] the suite detects the mutant %s", async (bug) => {
  expect(await triesToFind(bug)).not.toBeNull()
})

test("[FS4] the same plans report nothing without a mutant", async () => {
  const plans = BUGS.map((bug) => planFor(bug, 1))
  const { violations } = await runPlan({
    ...planFor("ack_early", 1),
    sessions: plans.flatMap(({ sessions }) => sessions),
  })
  expect(violations).toEqual([])
})
