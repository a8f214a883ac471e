/**
 * budget-text.ts: the strings about budgets in the user menu and on the admin page. Pure, except for the language and
 * time zone.
 */

import type { BudgetName, BudgetScope } from "../../shared/fault.ts"
import type { BudgetView } from "../../shared/usage/budget-view.ts"
import { formatCount } from "./format/number-format.ts"
import { formatDate } from "./format/date-format.ts"
import { translate } from "./languages/language.ts"

/** Nano-dollars in a dollar. */
export const NANO_PER_DOLLAR = 1_000_000_000

/** Budgets use decimal megabytes, as the API and bills do. */
export const BYTES_PER_MEGABYTE = 1_000_000

export const budgetText = translate("budget", {
  title: "Budgets",
  name: {
    tokens_per_day: "Tokens today",
    tokens_per_month: "Tokens this month",
    cost_per_day: "Cost today",
    cost_per_month: "Cost this month",
    concurrent_turns: "Answers at once",
    sessions: "Conversations",
    stored_bytes: "Stored files",
  } satisfies Record<BudgetName, string>,
  shared: (name: string) => `${name}, whole organization`,
  left: (left: string, limit: string) => `${left} of ${limit} left`,
  usedUp: "Used up",
  failed: "Your budgets couldn’t be loaded.",
  retry: "Try again",
  resetsAt: (time: string) => `Resets at ${time}`,
  resetsOn: (day: string) => `Resets on ${day}`,
  exhausted: (isCost: boolean, isDaily: boolean, time: string) =>
    `Your ${isCost ? "cost" : "token"} budget for the ${isDaily ? "day" : "month"} is used up. It resets on ${time}.`,
  exhaustedTenant: (isCost: boolean, isDaily: boolean, time: string) =>
    `Your organization's ${isCost ? "cost" : "token"} budget for the ${isDaily ? "day" : "month"} is used up. It resets on ${time}.`,
})

export const budgetsText = {
  lead: "Limit what people may use. A role's limit applies to each of its users. If several limits apply, the strictest one counts.",
  tenant: "Whole organization",
  limit: {
    tokens_per_day: "Tokens per day",
    tokens_per_month: "Tokens per month",
    cost_per_day: "Cost per day",
    cost_per_month: "Cost per month",
    concurrent_turns: "Answers at once, per user",
    sessions: "Conversations, per user",
    stored_bytes: "Stored files, per user",
  } satisfies Record<BudgetName, string>,
  tenantHint: "Tokens and cost are shared by everyone.",
  tenantDayHint:
    "A daily limit has little effect on people who send fewer than eight messages a day, because each of them can send that many before usage is counted. A monthly limit, or a limit for a role, is accurate enough.",
  users: "Users with their own limits",
  noUsers: "No users have their own limits.",
  none: "No limit",
  edit: "Edit…",
  editOf: (name: string) => `Edit the budget of ${name}`,
  addUser: "Add a user…",
  userId: "User ID",
  title: (name: string) => `Budget: ${name}`,
  newTitle: "New user budget",
  emptyField: "Leave a field empty for no limit. 0 allows nothing.",
  removeAll: "Remove all limits",
  saved: (name: string) => `The budget of ${name} has been saved.`,
  invalid: (field: string) => `“${field}” must be 0 or more.`,
  field: {
    tokens_per_day: "Tokens per day",
    tokens_per_month: "Tokens per month",
    cost_per_day: "Cost per day, in US dollars",
    cost_per_month: "Cost per month, in US dollars",
    concurrent_turns: "Answers at once, per user",
    sessions: "Conversations, per user",
    stored_bytes: "Stored files in megabytes, per user",
  } satisfies Record<BudgetName, string>,
  ownersOnly: "Only owners can change it.",
} as const

/** Formats an amount in the unit of its budget: "62,000", "$1.50", "3.2 MB". */
export function formatAmount(budget: BudgetName, amount: number): string {
  if (budget === "stored_bytes") return formatMegabytes(amount / BYTES_PER_MEGABYTE)
  if (budget !== "cost_per_day" && budget !== "cost_per_month") return formatTokens(amount)
  const dollars = amount / NANO_PER_DOLLAR
  const digits = dollars !== 0 && dollars < 0.1 ? 4 : 2
  return formatCount(dollars, {
    style: "currency",
    currency: "USD",
    minimumFractionDigits: 2,
    maximumFractionDigits: digits,
  })
}

function formatMegabytes(megabytes: number): string {
  const isLarge = megabytes >= 1_000
  const unit = isLarge ? "gigabyte" : "megabyte"
  const amount = isLarge ? megabytes / 1_000 : megabytes
  return formatCount(amount, { style: "unit", unit, maximumFractionDigits: amount < 10 ? 2 : 1 })
}

function formatTokens(count: number): string {
  return formatCount(count, count < 100_000 ? {} : { notation: "compact", maximumFractionDigits: 1 })
}

/** Returns when a budget resets, in the user's time zone: "at 01:00", "on 1 December". */
export function formatReset({ budget, resets }: Pick<BudgetView, "budget" | "resets">): string | null {
  if (resets === null) return null
  const isDaily = budget === "tokens_per_day" || budget === "cost_per_day"
  return isDaily
    ? budgetText.resetsAt(formatDate(resets, { hour: "2-digit", minute: "2-digit" }))
    : budgetText.resetsOn(formatDate(resets, { day: "numeric", month: "long" }))
}

/** The fields of a budget refusal. */
export interface BudgetRefusal {
  readonly text: string
  readonly budget?: BudgetName
  readonly scope?: BudgetScope
  /** Milliseconds since 1970. */
  readonly resets?: number
}

/**
 * Returns the text of a refusal, with the time in the user's time zone. Returns null if the refusal contains no time,
 * or a budget that the page doesn't know.
 */
export function describeExhausted({ budget = "sessions", scope, resets }: BudgetRefusal): string | null {
  const [, kind, period] = /^(tokens|cost)_per_(day|month)$/.exec(budget) ?? []
  if (resets === undefined || kind === undefined || period === undefined) return null
  const time = formatDate(resets, { day: "numeric", month: "long", hour: "2-digit", minute: "2-digit" })
  const describe = scope === "tenant" ? budgetText.exhaustedTenant : budgetText.exhausted
  return describe(kind === "cost", period === "day", time)
}
