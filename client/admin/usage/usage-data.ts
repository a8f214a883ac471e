/**
 * usage-data.ts: the usage section's data: parses pages of `GET /v1/usage`, and fills in the days without usage. Pure.
 */

import {
  createParser,
  hasShape,
  isListOf,
  isNumber,
  isOptional,
  isString,
} from "../../../shared/protocol/shape-check.ts"
import type { TotalsView, UsageRowView, UsageView } from "../../../shared/usage/usage-view.ts"
import { isNullOr } from "../admin-responses.ts"

export type Range = "week" | "month" | "quarter" | "year"
export type Measure = "cost" | "tokens" | "calls"

/** The number of days in a range, including today. */
const RANGE_DAYS: Readonly<Record<Range, number>> = { week: 7, month: 30, quarter: 90, year: 365 }

const MS_PER_DAY = 86_400_000

const TOTALS = {
  calls: isNumber,
  unpriced_calls: isNumber,
  retries: isNumber,
  input_tokens: isNumber,
  cached_tokens: isNumber,
  cache_written_tokens: isNumber,
  output_tokens: isNumber,
  reasoning_tokens: isNumber,
  cost_nano_usd: isNullOr(isNumber),
}

export const parseUsage = createParser<UsageView>({
  from: isString,
  to: isString,
  by: isString,
  rows: isListOf(hasShape<TotalsView>(TOTALS)),
  total: hasShape<TotalsView>(TOTALS),
  next: isNullOr(isString),
  incomplete: isOptional(hasShape<NonNullable<UsageView["incomplete"]>>({ turns_per_user: isNumber })),
})

/** Returns the first and last day, in UTC, of a range that ends at `nowMs`. */
export function toDays(range: Range, nowMs: number): { readonly from: string; readonly to: string } {
  return { from: toDay(nowMs - (RANGE_DAYS[range] - 1) * MS_PER_DAY), to: toDay(nowMs) }
}

function toDay(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10)
}

/** One bar of the chart. */
export interface Bar {
  /** A day (`2026-01-31`) or a month (`2026-01`). */
  readonly at: string
  /** Input and output tokens. For other measures, the second value is 0. */
  readonly values: readonly [number, number]
  readonly unpricedCalls: number
}

/** Returns a bar for each day or, if the range is a year, for each month. */
export function toBars({ from, to, rows }: UsageView, range: Range, measure: Measure): Bar[] {
  const keyLength = range === "year" ? 7 : 10
  const bars = new Map<string, Bar>()
  for (let at = Date.parse(from); at <= Date.parse(to); at += MS_PER_DAY) {
    const key = toDay(at).slice(0, keyLength)
    bars.set(key, bars.get(key) ?? { at: key, values: [0, 0], unpricedCalls: 0 })
  }
  for (const row of rows) {
    const bar = bars.get((row.day ?? "").slice(0, keyLength))
    if (bar === undefined) continue
    const [first, second] = measureRow(row, measure)
    const values = [bar.values[0] + first, bar.values[1] + second] as const
    bars.set(bar.at, { ...bar, values, unpricedCalls: bar.unpricedCalls + row.unpriced_calls })
  }
  return [...bars.values()]
}

export function measureRow(row: TotalsView, measure: Measure): readonly [number, number] {
  if (measure === "tokens") return [row.input_tokens, row.output_tokens]
  return [measure === "cost" ? (row.cost_nano_usd ?? 0) : row.calls, 0]
}

/** Returns the values at which the chart draws lines: round steps from 0 up to at least `max`. */
export function chooseScale(max: number): readonly number[] {
  if (max <= 0) return [0]
  const magnitude = 10 ** Math.floor(Math.log10(max / 4))
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * magnitude).find((size) => size * 4 >= max) ?? max
  const count = Math.ceil(max / step)
  return Array.from({ length: count + 1 }, (_, i) => i * step)
}

export function nameRow(row: UsageRowView): string {
  return row.model ?? row.user ?? row.agent ?? row.day ?? ""
}
