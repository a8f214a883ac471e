/** series.ts: seed after seed, the named ones first, until so many faults have struck. */

import { type Report, runSeed } from "./run.ts"
import type { NamedSeed } from "./seeds.ts"

export async function playUntil(
  faults: number,
  from: number,
  named: readonly NamedSeed[],
  say: (line: string) => void,
): Promise<Report[]> {
  const reports: Report[] = []
  let struck = 0
  for (let at = 0; struck < faults; at++) {
    const seed = named[at]?.seed ?? from + at - named.length
    const report = await runSeed(seed)
    reports.push(report)
    const own = [...report.faults.values()].reduce((sum, count) => sum + count, 0)
    struck += own
    const wrong = report.violations.length === 0 ? "" : `, ${report.violations.length} violations`
    say(`seed ${seed}: ${own} faults in ${(report.ms / 1000).toFixed(1)} s${wrong} (FAULT_SEED=${seed} repeats it)`)
  }
  return reports
}
