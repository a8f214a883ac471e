/** usage-text.ts: the strings and number formats of the admin page's usage section. Pure, except for the language. */

import { NANO_PER_USD } from "../../shared/usage/price-entry.ts"

export const usageText = {
  lead: "What your organization's model calls used. Days are in UTC.",
  range: "Period",
  ranges: { week: "Last 7 days", month: "Last 30 days", quarter: "Last 90 days", year: "Last 12 months" },
  measure: "Measure",
  measures: { cost: "Cost", tokens: "Tokens", calls: "Model calls" },
  by: "Break down by",
  groups: { model: "Model", user: "User", agent: "Agent" },
  download: "Download CSV",
  downloading: "Downloading…",
  incomplete: (count: number) =>
    `These totals may be missing up to ${formatCount(count)} of each user’s latest answers.`,
  none: "No model calls in this period.",
  noneOnPage: "Nobody on this page has used anything.",
  total: { cost: "Cost", input: "Input tokens", output: "Output tokens", calls: "Model calls" },
  cached: (count: string) => `${count} from the cache`,
  reasoning: (count: string) => `${count} reasoning`,
  retries: (count: string) => `${count} repeated`,
  unknown: "Unknown",
  unpriced: (count: number) => `${formatCount(count)} ${count === 1 ? "call" : "calls"} without a known price`,
  unpricedHint: "Calls without a price, and calls whose provider reported no tokens, have no cost.",
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

export const pricesText = {
  lead: "What a model call costs, in US dollars per million tokens. Your own prices take precedence over the built-in ones. A change applies to calls within a few minutes.",
  own: "Your prices",
  noOwn: "You have no prices of your own.",
  builtIn: "Built-in prices",
  builtInLead: "The providers' published prices.",
  add: "Add a price",
  addTitle: "Add a price",
  editTitle: (model: string) => `Price of ${model}`,
  edit: "Edit",
  end: "End…",
  replace: "Replace…",
  actionsOf: (model: string, from: string) => `Actions for ${model} from ${from}`,
  replaceOf: (model: string, from: string) => `Replace the price of ${model} from ${from}`,
  unpriced: "Models without a price",
  unpricedLead: (range: string) => `Their cost in the ${range} is unknown.`,
  setPrice: "Set a price",
  setPriceOf: (model: string) => `Set a price for ${model}`,
  provider: "Provider",
  providerHint: "As in the usage table. Leave it empty for any provider.",
  anyProvider: "Any provider",
  model: "Model",
  modelHint: "A name without a date also applies to the dated versions of the model.",
  from: "First day (UTC)",
  until: "Last day (UTC)",
  untilHint: "Leave it empty if the price has no end date.",
  input: "Input",
  output: "Output",
  cached: "Cached input",
  cacheWrite: "Input written to the cache",
  inputField: "Input, US dollars per million tokens",
  outputField: "Output, US dollars per million tokens",
  cachedField: "Cached input, US dollars per million tokens",
  cacheWriteField: "Input written to the cache, US dollars per million tokens",
  asInput: "Leave it empty if it costs as much as input.",
  period: (from: string, until: string | undefined) =>
    until === undefined ? `From ${formatFullDay(from)}` : `From ${formatFullDay(from)} to ${formatFullDay(until)}`,
  state: { past: "Ended", current: "Now", future: "Later" },
  saved: (model: string) => `The price of ${model} has been saved.`,
  endTitle: (model: string) => `End the price of ${model}?`,
  endText:
    "After its last day, another of your prices or the built-in one applies. Without one, the cost of the model's calls is unknown.",
  confirmEnd: "End the price",
  ended: (model: string) => `The price of ${model} now has an end date.`,
  removeTitle: (model: string) => `Delete this price of ${model}?`,
  removeText: "It no longer applies to new calls. The cost of past calls doesn't change.",
  confirmRemove: "Delete the price",
  removed: (model: string) => `The price of ${model} has been deleted.`,
  changed: "Someone else has changed or deleted this price. Close this dialog and reload the page.",
  invalid: {
    provider: "“Provider” must be empty, or a single line without leading or trailing spaces.",
    model: "“Model” must be a single line without leading or trailing spaces.",
    from: "“First day” isn't a date.",
    until: "“Last day” can't be before the first day.",
    price: (field: string) => `“${field}” must be a number from 0 to 100,000.`,
    number: (field: string, text: string) => `“${field}” is “${text}”. It must be a number, such as 3 or 0.25.`,
    separator: (field: string, text: string) =>
      `“${field}” is “${text}”. Write it without a thousands separator, for example: 1000 or 0.25.`,
    twice: "This model already has a price from the same day. Edit that price.",
    full: (max: number) => `You can have up to ${max} prices. Delete one first.`,
  },
} as const

/** Formats `2026-01-31` in the reader's language, with the year. */
function formatFullDay(day: string): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" }).format(new Date(day))
}

/** Formats a price, in US dollars per million tokens, with all its digits. */
export function formatPrice(usd: number): string {
  return usd.toLocaleString(undefined, {
    style: "currency",
    currency: "USD",
    minimumFractionDigits: 2,
    maximumFractionDigits: 9,
  })
}

export function formatCount(count: number): string {
  return count.toLocaleString()
}

/** Formats a number for an axis: `1.2M`. */
export function formatCompact(count: number): string {
  return new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 }).format(count)
}

/** Formats a cost in US dollars, with enough digits that a small amount isn't shown as zero. */
export function formatCost(nano: number): string {
  const usd = nano / NANO_PER_USD
  const isSmall = usd > 0 && usd < 1
  const digits = isSmall
    ? { minimumSignificantDigits: 3, maximumSignificantDigits: 3 }
    : { minimumFractionDigits: 2, maximumFractionDigits: 2 }
  return new Intl.NumberFormat(undefined, { style: "currency", currency: "USD", ...digits }).format(usd)
}

/** Formats a day or a month. `day` is `2026-01-31` or, for a month, `2026-01`. */
export function formatDay(day: string): string {
  const isMonth = day.length === 7
  const options = isMonth
    ? ({ month: "short", year: "numeric" } as const)
    : ({ day: "numeric", month: "short" } as const)
  const date = new Date(isMonth ? `${day}-01` : day)
  return new Intl.DateTimeFormat(undefined, { ...options, timeZone: "UTC" }).format(date)
}
