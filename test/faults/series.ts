/** series.ts: repeats runs until enough faults have been injected, or until a mutant is detected. */

import { DETECTED_BY, type Mutant, MUTANT_VARS, planFor } from "./mutant-plans.ts"
import { type Report, runPlan, runSeed } from "./run.ts"
import type { Rule } from "./violation.ts"

/** Maximum number of tries to detect a mutant. On a busy machine, a kill can miss a window of 50 ms. */
export const TRIES = 5
/**
 * Timeout for an expected event, in milliseconds. It is shorter than in other runs, because an event that a mutant
 * suppresses never happens.
 */
const PATIENCE_MS = 1_200

export async function playUntil(faults: number, from: number, say: (line: string) => void): Promise<Report[]> {
  const reports: Report[] = []
  let injected = 0
  for (let seed = from; injected < faults; seed++) {
    const report = await runSeed(seed)
    reports.push(report)
    const own = [...report.faults.values()].reduce((sum, count) => sum + count, 0)
    injected += own
    const wrong = report.violations.length === 0 ? "" : `, ${report.violations.length} violations`
    say(`seed ${seed}: ${own} faults in ${(report.ms / 1000).toFixed(1)} s${wrong} (FAULT_SEED=${seed})`)
  }
  return reports
}

/** Returns how many tries it took to detect a mutant, or null if no try detected it. */
export async function triesToFind(mutant: Mutant): Promise<number | null> {
  const rules: readonly Rule[] = DETECTED_BY[mutant]
  for (let seed = 1; seed <= TRIES; seed++) {
    const vars = { ...MUTANT_VARS[mutant], MUTANT: mutant }
    const { violations } = await runPlan(planFor(mutant, seed), vars, PATIENCE_MS)
    if (violations.some(({ rule }) => rules.includes(rule))) return seed
  }
  return null
}
