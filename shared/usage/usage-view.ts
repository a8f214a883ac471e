/** usage-view.ts: the JSON of `GET /v1/usage`, and its rows as CSV. */

import { NANO_PER_USD } from "./price-entry.ts"
import type { UsageBy, UsagePage, UsageRow } from "./usage-page.ts"
import type { UsageTotals } from "./usage-totals.ts"

export interface TotalsView {
  /** The number of model calls. */
  readonly calls: number
  /** The number of calls whose cost is unknown. For these calls, `cost_nano_usd` includes at most an estimate. */
  readonly unpriced_calls: number
  readonly retries: number
  readonly input_tokens: number
  readonly cached_tokens: number
  readonly cache_written_tokens: number
  readonly output_tokens: number
  readonly reasoning_tokens: number
  /** Unit: 1e-9 USD. Null if the cost of every call is unknown. */
  readonly cost_nano_usd: number | null
}

export interface UsageRowView extends TotalsView, Omit<UsageRow, keyof UsageTotals> {}

export interface UsageView extends Pick<UsagePage, "from" | "to" | "by" | "next"> {
  readonly rows: readonly UsageRowView[]
  /** The total over the whole range and all users, including erased ones. */
  readonly total: TotalsView
  /**
   * If present, up to this many of each user's newest turns may be missing from `total` and from all rows except those
   * of users.
   */
  readonly incomplete?: { readonly turns_per_user: number }
}

export function pageToView({ from, to, by, rows, total, next }: UsagePage): UsageView {
  return { from, to, by, rows: rows.map(rowToView), total: totalsToView(total), next }
}

function rowToView(row: UsageRow): UsageRowView {
  const key = KEY_FIELDS.flatMap((name) => (row[name] === undefined ? [] : [[name, row[name]]]))
  return { ...Object.fromEntries(key), ...totalsToView(row) }
}

export function totalsToView(totals: UsageTotals): TotalsView {
  const { calls, unpricedCalls, retries, input, cached, cacheWritten, output, reasoning, cost } = totals
  return {
    calls,
    unpriced_calls: unpricedCalls,
    retries,
    input_tokens: input,
    cached_tokens: cached,
    cache_written_tokens: cacheWritten,
    output_tokens: output,
    reasoning_tokens: reasoning,
    cost_nano_usd: calls > 0 && unpricedCalls === calls ? null : cost,
  }
}

const KEY_FIELDS = ["day", "provider", "model", "user", "agent"] as const

const KEYS_BY: Readonly<Record<UsageBy, readonly (typeof KEY_FIELDS)[number][]>> = {
  day: ["day"],
  model: ["provider", "model"],
  user: ["user"],
  agent: ["agent"],
}

const TOTAL_FIELDS = [
  "calls",
  "unpriced_calls",
  "retries",
  "input_tokens",
  "cached_tokens",
  "cache_written_tokens",
  "output_tokens",
  "reasoning_tokens",
] as const

/** Returns the header line of the CSV file. */
export function formatCsvHead(by: UsageBy): string {
  return formatCsvLine([...KEYS_BY[by], ...TOTAL_FIELDS, "cost_usd"])
}

/** Returns CSV lines with the fields of `formatCsvHead`. An unknown cost is written as `unknown`. */
export function formatCsvRows(by: UsageBy, rows: readonly UsageRowView[]): string {
  const lines = rows.map((row) => {
    const values = [...KEYS_BY[by].map((name) => row[name] ?? ""), ...TOTAL_FIELDS.map((name) => String(row[name]))]
    return formatCsvLine([...values, row.cost_nano_usd === null ? "unknown" : formatUsd(row.cost_nano_usd)])
  })
  return lines.join("")
}

/** Returns the exact amount in USD, such as `0.000012500`. */
function formatUsd(nano: number): string {
  return `${Math.floor(nano / NANO_PER_USD)}.${String(nano % NANO_PER_USD).padStart(9, "0")}`
}

function formatCsvLine(values: readonly string[]): string {
  return `${values.map(quoteCsv).join(",")}\r\n`
}

/**
 * Quotes a value as RFC 4180 defines it. A spreadsheet program may run a value as a formula if it begins with one of
 * these characters, even after whitespace or in full width; the apostrophe prevents that.
 */
function quoteCsv(value: string): string {
  const safe = /^[\s\u00A0\uFEFF]*[=+\-@\t\r＝＋－＠]/u.test(value) ? `'${value}` : value
  return /[",\r\n']|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
