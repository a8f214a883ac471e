/**
 * main.ts: `npm run faults`: seeded runs until so many faults have struck, and one table.
 *
 * FAULTS=n changes how many (1,000) · FAULT_SEED=n plays one seed · FAULT_FROM=n begins at another seed.
 */

import process from "node:process"
import { BUGS } from "./planted.ts"
import { runSeed } from "./run.ts"
import { NAMED_SEEDS } from "./seeds.ts"
import { playUntil, TRIES, triesToFind } from "./series.ts"
import { tableOf, totalOf, violationLines } from "./table.ts"

const USUAL_FAULTS = 1_000

const { FAULT_SEED, FAULTS = String(USUAL_FAULTS), FAULT_FROM = "1000" } = process.env
const started = performance.now()
const reports =
  FAULT_SEED === undefined
    ? await playUntil(Number(FAULTS), Number(FAULT_FROM), NAMED_SEEDS, (line) => console.log(line))
    : [await runSeed(Number(FAULT_SEED))]
const total = totalOf(reports, performance.now() - started)
const lines = violationLines(total)
if (lines !== "") console.log(`\n${lines}`)
console.log(`\n${tableOf(total)}`)

/** The suite can fail: each planted bug has to be found. */
let missed = 0
if (FAULT_SEED === undefined) {
  console.log("\nplanted bug     found in")
  for (const bug of BUGS) {
    const tries = await triesToFind(bug)
    if (tries === null) missed += 1
    console.log(
      `${bug.padEnd(14)}  ${tries === null ? `not in ${TRIES} tries` : `${tries} ${tries === 1 ? "try" : "tries"}`}`,
    )
  }
}
process.exit(total.violations.length + missed === 0 ? 0 : 1)
