/** kept-faults.test.ts: runs every model fault, and the stored plans that once found bugs. */

import { expect, test } from "vitest"
import { everyPlay } from "./plays.ts"
import { runPlan } from "./run.ts"
import { readStoredPlans } from "./stored-plans.ts"
import { MODEL_FAULTS } from "./upstream.ts"
import { listViolations } from "./violation.ts"

test("[FS1] [FS9] each model fault ends its answer with the correct status and the text received so far", async () => {
  const { faults, violations } = await runPlan(everyPlay())
  expect(listViolations(violations)).toBe("")
  expect([...faults.keys()]).toEqual(expect.arrayContaining(MODEL_FAULTS.map((play) => `model: ${play}`)))
})

test.each(readStoredPlans())("[FS1] [FS2] [FS3] [FS10] regression: $name", async ({ plan }) => {
  const { faults, violations } = await runPlan(plan)
  expect(listViolations(violations)).toBe("")
  expect(faults.size).toBeGreaterThan(0)
})
