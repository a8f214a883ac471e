/** table.ts: formats the results of many runs as a table. */

import type { Report } from "./run.ts"
import { RULES, type Violation } from "./violation.ts"

export interface Total {
  readonly runs: number
  readonly faults: number
  readonly hits: number
  readonly cancelsRequested: number
  readonly cancelsStopped: number
  readonly byKind: ReadonlyMap<string, number>
  readonly violations: readonly { readonly seed: number; readonly violation: Violation }[]
  readonly ms: number
}

export function totalOf(reports: readonly Report[], ms: number): Total {
  const byKind = new Map<string, number>()
  for (const { faults } of reports) {
    for (const [kind, count] of faults) byKind.set(kind, (byKind.get(kind) ?? 0) + count)
  }
  return {
    runs: reports.length,
    faults: [...byKind.values()].reduce((sum, count) => sum + count, 0),
    hits: reports.reduce((sum, report) => sum + report.hits, 0),
    cancelsRequested: reports.reduce((sum, { cancels }) => sum + cancels.requested, 0),
    cancelsStopped: reports.reduce((sum, { cancels }) => sum + cancels.stopped, 0),
    byKind,
    violations: reports.flatMap(({ seed, violations }) => violations.map((violation) => ({ seed, violation }))),
    ms,
  }
}

export function tableOf(total: Total): string {
  const { runs, faults, hits, byKind, violations, ms } = total
  const rows: [string, string][] = [...byKind]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([kind, count]) => [kind, String(count)])
  rows.push(
    ["turns running at a kill", String(hits)],
    ["turns with a cancel request", String(total.cancelsRequested)],
    ["turns with an acknowledged cancel", String(total.cancelsStopped)],
    ["faults", String(faults)],
    ["runs", String(runs)],
    ["violations", String(violations.length)],
  )
  rows.push(["seconds", (ms / 1000).toFixed(1)])
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value.padStart(7)}`).join("\n")
}

/** Lists each violation, with the command that runs its seed again. */
export function violationLines({ violations }: Total): string {
  return violations
    .map(({ seed, violation: { rule, session, detail } }) => `FAULT_SEED=${seed} ${session}: ${RULES[rule]}: ${detail}`)
    .join("\n")
}
