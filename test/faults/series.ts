/** series.ts: many runs: seed after seed until so many faults have struck, and try after try until a planted bug is found. */

import { BROKEN_BY, type Bug, planFor } from "./planted.ts"
import { type Report, runPlan, runSeed } from "./run.ts"
import type { Rule } from "./violation.ts"

/** A kill may miss a window of 50 ms on a busy machine: so often it is tried. */
export const TRIES = 5
/** What a bug has broken never comes: no need to wait for it as long as for a busy server. */
const PATIENCE_MS = 1_200

export async function playUntil(faults: number, from: number, say: (line: string) => void): Promise<Report[]> {
  const reports: Report[] = []
  let struck = 0
  for (let seed = from; struck < faults; seed++) {
    const report = await runSeed(seed)
    reports.push(report)
    const own = [...report.faults.values()].reduce((sum, count) => sum + count, 0)
    struck += own
    const wrong = report.violations.length === 0 ? "" : `, ${report.violations.length} violations`
    say(`seed ${seed}: ${own} faults in ${(report.ms / 1000).toFixed(1)} s${wrong} (FAULT_SEED=${seed})`)
  }
  return reports
}

/** How many tries it took to find a planted bug; null where it was not found. */
export async function triesToFind(bug: Bug): Promise<number | null> {
  const wanted: readonly Rule[] = BROKEN_BY[bug]
  for (let seed = 1; seed <= TRIES; seed++) {
    const { violations } = await runPlan(planFor(bug, seed), { MUTANT: bug }, PATIENCE_MS)
    if (violations.some(({ rule }) => wanted.includes(rule))) return seed
  }
  return null
}
