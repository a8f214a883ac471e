/** usage-text.ts: the strings and numbers of the usage section of the admin page. Pure, except for the language. */

import { NANO_PER_USD } from "../../shared/usage/price-entry.ts"

export const usageText = {
  lead: "What your organization's model calls used. Figures are exact, by UTC day. With more than 100 users, totals lack a user’s newest answers until there are eight of them or the month ends; the table by user has them.",
  range: "Period",
  ranges: { week: "Last 7 days", month: "Last 30 days", quarter: "Last 90 days", year: "Last 12 months" },
  measure: "Measure",
  measures: { cost: "Cost", tokens: "Tokens", calls: "Model calls" },
  by: "Break down by",
  groups: { model: "Model", user: "User", agent: "Agent" },
  download: "Download CSV",
  downloading: "Downloading…",
  none: "No model calls in this period. With more than 100 users, new ones appear by user first.",
  noneOnPage: "Nobody on this page has used anything.",
  total: { cost: "Cost", input: "Input tokens", output: "Output tokens", calls: "Model calls" },
  cached: (count: string) => `${count} from the cache`,
  reasoning: (count: string) => `${count} reasoning`,
  retries: (count: string) => `${count} repeated`,
  unknown: "Unknown",
  unpriced: (count: number) => `${formatCount(count)} ${count === 1 ? "call" : "calls"} of unknown price`,
  unpricedHint: "Set the price of a model with PUT /v1/prices. It counts for later calls.",
  input: "Input",
  output: "Output",
  chartOf: (measure: string, range: string) => `${measure}, ${range.toLowerCase()}`,
  summary: (total: string, top: string, at: string) => `${total} in total. The highest is ${top}, ${at}.`,
  asTable: "Show the chart as a table",
  day: "Day",
  month: "Month",
  share: "Share",
  more: "Show more",
} as const

export function formatCount(count: number): string {
  return count.toLocaleString()
}

/** A short number for an axis: `1.2M`. */
export function formatCompact(count: number): string {
  return new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 }).format(count)
}

/** Dollars, with enough digits that a small amount isn't shown as nothing. */
export function formatCost(nano: number): string {
  const usd = nano / NANO_PER_USD
  const isSmall = usd > 0 && usd < 1
  const digits = isSmall
    ? { minimumSignificantDigits: 3, maximumSignificantDigits: 3 }
    : { minimumFractionDigits: 2, maximumFractionDigits: 2 }
  return new Intl.NumberFormat(undefined, { style: "currency", currency: "USD", ...digits }).format(usd)
}

/** `day` is `2026-01-31` or, for a month, `2026-01`. */
export function formatDay(day: string): string {
  const isMonth = day.length === 7
  const options = isMonth
    ? ({ month: "short", year: "numeric" } as const)
    : ({ day: "numeric", month: "short" } as const)
  const date = new Date(isMonth ? `${day}-01` : day)
  return new Intl.DateTimeFormat(undefined, { ...options, timeZone: "UTC" }).format(date)
}
