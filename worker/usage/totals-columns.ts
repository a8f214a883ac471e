/** totals-columns.ts: the columns of a table that stores totals. */

import { addTotals, type UsageTotals } from "../../shared/usage/usage-totals.ts"

export const TOTALS_COLUMNS = `calls INTEGER NOT NULL, unpriced INTEGER NOT NULL, retries INTEGER NOT NULL,
  input INTEGER NOT NULL, cached INTEGER NOT NULL, cache_written INTEGER NOT NULL,
  output INTEGER NOT NULL, reasoning INTEGER NOT NULL, cost INTEGER NOT NULL`

export type TotalsRow = {
  readonly calls: number
  readonly unpriced: number
  readonly retries: number
  readonly input: number
  readonly cached: number
  readonly cache_written: number
  readonly output: number
  readonly reasoning: number
  readonly cost: number
}

const NAMES = [
  "calls",
  "unpriced",
  "retries",
  "input",
  "cached",
  "cache_written",
  "output",
  "reasoning",
  "cost",
] as const

/** Sums of the columns. Each is at most the largest safe integer. SQLite's `total` cannot overflow. */
export const SUMMED_COLUMNS = NAMES.map(
  (name) => `CAST(min(total(${name}), ${Number.MAX_SAFE_INTEGER}) AS INTEGER) AS ${name}`,
).join(", ")

export function rowToTotals(row: TotalsRow): UsageTotals {
  const { unpriced: unpricedCalls, cache_written: cacheWritten } = row
  const { calls, retries, input, cached, output, reasoning, cost } = row
  return { calls, unpricedCalls, retries, input, cached, cacheWritten, output, reasoning, cost }
}

/** Adds totals to the row of a key. The names of tables and keys must be constants in the caller's code. */
export function putTotals(
  sql: SqlStorage,
  {
    table,
    key,
    totals,
  }: { readonly table: string; readonly key: Readonly<Record<string, string>>; readonly totals: UsageTotals },
): void {
  const names = Object.keys(key)
  const where = names.map((name) => `${name} = ?`).join(" AND ")
  const [row] = sql
    .exec<TotalsRow>(`SELECT ${NAMES.join(", ")} FROM ${table} WHERE ${where}`, ...Object.values(key))
    .toArray()
  const sum = row === undefined ? totals : addTotals(rowToTotals(row), totals)
  const columns = [...names, ...NAMES]
  sql.exec(
    `INSERT OR REPLACE INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
    ...Object.values(key),
    ...totalsToColumns(sum),
  )
}

function totalsToColumns(totals: UsageTotals): number[] {
  const { calls, unpricedCalls, retries, input, cached, cacheWritten, output, reasoning, cost } = totals
  return [calls, unpricedCalls, retries, input, cached, cacheWritten, output, reasoning, cost]
}
