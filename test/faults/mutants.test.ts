/**
 * mutants.test.ts: tests that the suite detects every mutant, and that it reports nothing when the same plan runs
 * without the mutant.
 */

import { expect, test } from "vitest"
import { readBuild } from "../../testing/built-worker.ts"
import { everyNth } from "../support/seeded.ts"
import { type Mutant, MUTANT_VARS, MUTANTS, planFor } from "./mutant-plans.ts"
import { runPlan } from "./run.ts"
import { triesToFind } from "./series.ts"
import { listViolations } from "./violation.ts"

/**
 * Number of plans that are played at the same time. It is limited, because the suite measures its time limits in
 * wall-clock time.
 */
const PLANS_AT_ONCE = 7

/** Plans grouped by their variables. The plans of a group can share a server. */
const GROUPS = groupMutants()

function groupMutants(): Mutant[][] {
  const groups: Mutant[][] = []
  for (const mutant of MUTANTS) {
    const group = groups.find(([first]) => varsOf(first) === varsOf(mutant))
    if (group === undefined || group.length >= PLANS_AT_ONCE) groups.unshift([mutant])
    else group.push(mutant)
  }
  return groups
}

function varsOf(mutant: Mutant | undefined): string {
  return mutant === undefined ? "" : JSON.stringify(MUTANT_VARS[mutant] ?? {})
}

test.each(everyNth(MUTANTS, 6, 2))("[FS4] the suite detects the mutant %s", async (mutant) => {
  expect(await triesToFind(mutant)).not.toBeNull()
})

test.each(everyNth(GROUPS, 3, 2).map((group) => [group]))(
  "[FS4] the plans of %j report nothing without a mutant",
  async (group) => {
    const [first = "ack_early"] = group
    const sessions = group.flatMap((mutant) => planFor(mutant, 1).sessions)
    const { violations } = await runPlan({ ...planFor(first, 1), sessions }, MUTANT_VARS[first])
    expect(listViolations(violations)).toBe("")
  },
)

test("[FS4] the production Worker contains no mutant", () => {
  const modules = Object.values(readBuild().modules)
  expect(MUTANTS.filter((mutant) => modules.some((code) => code.includes(mutant)))).toEqual([])
})
