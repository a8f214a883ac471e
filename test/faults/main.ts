/**
 * main.ts: `npm run faults` plays seeded runs until enough faults have been injected, and then prints one table.
 *
 * FAULTS=n sets the number of faults (1,000) · FAULT_SEED=n runs one seed · FAULT_FROM=n starts at another seed ·
 * FAULT_SEED=n KEEP="what it found" stores the plan of that seed as a regression test.
 */

import process from "node:process"
import { storePlan, readStoredPlans } from "./stored-plans.ts"
import { planRun } from "./plan.ts"
import { MUTANTS } from "./mutant-plans.ts"
import { everyPlay } from "./plays.ts"
import { type Report, runPlan, runSeed, DEFAULT_SIZE } from "./run.ts"
import { playUntil, TRIES, triesToFind } from "./series.ts"
import { tableOf, totalOf, violationLines } from "./table.ts"

const DEFAULT_FAULTS = 1_000

const { FAULT_SEED, FAULTS = String(DEFAULT_FAULTS), FAULT_FROM = "1000", KEEP } = process.env
const started = performance.now()
if (KEEP !== undefined) console.log(`kept/${storePlan(KEEP, planRun(Number(FAULT_SEED), DEFAULT_SIZE))}`)
const reports: Report[] = []
if (FAULT_SEED === undefined) {
  for (const { plan } of [{ plan: everyPlay() }, ...readStoredPlans()]) reports.push(await runPlan(plan))
  const injected = reports.reduce((sum, { faults }) => sum + [...faults.values()].reduce((a, b) => a + b, 0), 0)
  reports.push(...(await playUntil(Number(FAULTS) - injected, Number(FAULT_FROM), (line) => console.log(line))))
} else reports.push(await runSeed(Number(FAULT_SEED)))
const total = totalOf(reports, performance.now() - started)
const lines = violationLines(total)
if (lines !== "") console.log(`\n${lines}`)
console.log(`\n${tableOf(total)}`)

// The suite must detect every mutant.
let missed = 0
if (FAULT_SEED === undefined) {
  console.log("\nmutant          found in")
  for (const mutant of MUTANTS) {
    const tries = await triesToFind(mutant)
    if (tries === null) missed += 1
    console.log(
      `${mutant.padEnd(14)}  ${tries === null ? `not in ${TRIES} tries` : `${tries} ${tries === 1 ? "try" : "tries"}`}`,
    )
  }
}
process.exit(total.violations.length + missed === 0 ? 0 : 1)
