/** mutants.test.ts: the suite detects every mutant, and reports nothing when the same plan runs without it. */

import { expect, test } from "vitest"
import { readBuild } from "../../testing/built-worker.ts"
import { everyNth } from "../support/seeded.ts"
import { MUTANTS, planFor } from "./mutant-plans.ts"
import { runPlan } from "./run.ts"
import { triesToFind } from "./series.ts"

test.each(everyNth(MUTANTS, 2))("[FS4] the suite detects the mutant %s", async (mutant) => {
  expect(await triesToFind(mutant)).not.toBeNull()
})

test("[FS4] the same plans report nothing without a mutant", async () => {
  const plans = MUTANTS.map((mutant) => planFor(mutant, 1))
  const { violations } = await runPlan({
    ...planFor("ack_early", 1),
    sessions: plans.flatMap(({ sessions }) => sessions),
  })
  expect(violations).toEqual([])
})

test("[FS4] the production Worker contains no mutant", () => {
  const modules = Object.values(readBuild().modules)
  expect(MUTANTS.filter((mutant) => modules.some((code) => code.includes(mutant)))).toEqual([])
})
