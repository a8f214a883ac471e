/** table.ts: formats measurements as a Markdown table. */

export interface Row {
  readonly what: string
  readonly ours: string
  /** The cost of the bare platform in the same run; empty if there is no floor. */
  readonly floor: string
  /** The result of the nearest comparable system, measured earlier on a similar machine. */
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
