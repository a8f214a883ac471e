/** table.ts: rows of figures as one Markdown table. */

export interface Row {
  readonly what: string
  readonly ours: string
  /** What the bare platform costs in the same run; empty where there is none. */
  readonly floor: string
  /** The nearest comparable system, measured before on such a machine. */
  readonly peer: string
  readonly goal: string
}

export function tableOf(rows: readonly Row[]): string {
  const lines = rows.map(
    ({ what, ours, floor, peer, goal }) => `| ${what} | **${ours}** | ${goal} | ${floor} | ${peer} |`,
  )
  return [
    "| what | Cuecard | goal | floor, same run | nearest comparable system |",
    "|---|---|---|---|---|",
    ...lines,
  ].join("\n")
}
