/** planted.test.ts: the suite can fail: each planted bug is found, and the same plan without it finds nothing. */

import { expect, test } from "vitest"
import { readBuild } from "../../testing/built-worker.ts"
import { BUGS, planFor } from "./planted.ts"
import { runPlan } from "./run.ts"
import { triesToFind } from "./series.ts"

test.each(BUGS)("[FS4] the suite finds %s", async (bug) => {
  expect(await triesToFind(bug)).not.toBeNull()
})

test("[FS4] the plans that find them find nothing without them", async () => {
  const plans = BUGS.map((bug) => planFor(bug, 1))
  const { violations } = await runPlan({
    ...planFor("ack_early", 1),
    sessions: plans.flatMap(({ sessions }) => sessions),
  })
  expect(violations).toEqual([])
})

test("[FS4] the production Worker contains no mutant", () => {
  const modules = Object.values(readBuild().modules)
  expect(BUGS.filter((bug) => modules.some((code) => code.includes(bug)))).toEqual([])
})
