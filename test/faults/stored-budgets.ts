/**
 * stored-budgets.ts: compares the budgets of a stopped server with its stored turns (SPEC BU9, BU24).
 *
 * what each directory has counted = total of its own ledger
 * usage of a user's turns, and of all users' turns ≤ budget + turns that may begin after it is used up
 */

import type { DatabaseSync } from "node:sqlite"
import { findStrictest, listMeteredLimits, METERED_BUDGETS, type UserLimits } from "../../shared/usage/budget-limits.ts"
import { addSpending, type Meter, NO_SPENDING, type Spending, sumSpending } from "../../shared/usage/budget-meter.ts"
import { callsToEntries, type UsageEntry } from "../../shared/usage/usage-totals.ts"
import type { PricedCall } from "../../shared/usage/call-usage.ts"
import { toPeriod } from "../../shared/usage/period.ts"
import { MAX_UNCERTAIN_TURNS, MAX_UNRENEWED_TURNS, type UserAccount } from "../../shared/usage/user-account.ts"
import { readAll } from "./usage-rows.ts"

/**
 * Maximum number of turns that are running or have a lease when a user's budget is used up: MAX_UNCERTAIN_TURNS of each
 * (BU25).
 */
const LEASED_TURNS = 2 * MAX_UNCERTAIN_TURNS

/** The stored turns of a user's sessions. */
export interface UserTurns {
  /** The usage of the turns that have ended. */
  readonly spent: Spending
  /** Number of answers that are running or waiting. */
  readonly running: number
  /** Ids of the stored messages, including queued ones. A message that is stored twice appears twice. */
  readonly messages: readonly string[]
  /** Ids of the messages whose answers failed because a budget was used up. */
  readonly unanswered: readonly string[]
}

export interface BudgetBounds {
  readonly limitsOf: (user: string) => UserLimits
  /** The maximum usage of a turn. */
  readonly largest: Spending
}

/** Returns the stored turns of a tenant's users, by user. The server must be stopped. */
export function readTurns(persist: string): Map<string, UserTurns> {
  const byUser = new Map<string, UserTurns>()
  for (const { user, ...own } of readAll(persist, "Session", readSession)) {
    const before = byUser.get(user)
    byUser.set(user, {
      spent: addSpending(before?.spent ?? NO_SPENDING, own.spent),
      running: (before?.running ?? 0) + own.running,
      messages: [...(before?.messages ?? []), ...own.messages],
      unanswered: [...(before?.unanswered ?? []), ...own.unanswered],
    })
  }
  return byUser
}

/**
 * Returns the errors in the budgets of a state folder, which must contain a single tenant. The server must be stopped.
 */
export function findBudgetFaults(persist: string, { limitsOf, largest }: BudgetBounds): string[] {
  const found = readAll(persist, "Directory", findAccountFaults).flat()
  const turns = readTurns(persist)
  const all = [...turns.values()].reduce((sum, { spent }) => addSpending(sum, spent), NO_SPENDING)
  for (const [user, { spent, running }] of turns) {
    const limits = limitsOf(user)
    const most = findStrictest(limits, "concurrent_turns")?.limit ?? Infinity
    if (running > most) found.push(`${user}: ${running} answers run at once, but at most ${most} are allowed`)
    for (const { budget, scope, limit } of listMeteredLimits(limits)) {
      const { unit } = METERED_BUDGETS[budget]
      const isShared = scope === "tenant"
      const turnsLeft = isShared ? turns.size * (MAX_UNRENEWED_TURNS + LEASED_TURNS) : LEASED_TURNS
      const [used, bound] = [(isShared ? all : spent)[unit], limit + turnsLeft * largest[unit]]
      if (used > bound) found.push(`${user}: ${used} of ${scope} ${budget} are used, but at most ${bound} are allowed`)
    }
  }
  return found
}

/** Compares the meters of a directory with its ledger. */
function findAccountFaults(database: DatabaseSync): string[] {
  const meters = readAccount(database)?.meters ?? []
  if (meters.length === 0) return []
  const entries = readEntries(database)
  return meters.flatMap((meter) => {
    const own = sumInPeriod(entries, meter)
    const isRight = meter.scope === "tenant" ? meter.spent >= own : meter.spent === own
    return isRight ? [] : [`${meter.scope} ${meter.budget}: ${meter.spent} are counted, and ${own} are in the ledger`]
  })
}

/** Returns the budgets of a directory, or null if it has none. */
export function readAccount(database: DatabaseSync): UserAccount | null {
  const [row] = database.prepare("SELECT account FROM budget_account").all()
  return row === undefined ? null : (JSON.parse(String(row["account"])) as UserAccount)
}

function readEntries(database: DatabaseSync): UsageEntry[] {
  const sent = database.prepare("SELECT day, input, output, cost FROM usage_total").all() as unknown as UsageEntry[]
  const unsent = database.prepare("SELECT unsent FROM usage_session").all()
  return [...sent, ...unsent.flatMap((row) => JSON.parse(String(row["unsent"])) as UsageEntry[])]
}

function sumInPeriod(entries: readonly UsageEntry[], { budget, at }: Meter): number {
  const { unit, period } = METERED_BUDGETS[budget]
  const current = toPeriod(period, at)
  return sumSpending(entries.filter(({ day }) => toPeriod(period, Date.parse(day)) === current))[unit]
}

function readSession(database: DatabaseSync): UserTurns & { readonly user: string } {
  const [session] = database.prepare("SELECT user FROM session").all()
  const rows = database.prepare("SELECT id, role, exchange_id, status, reason, usage FROM transcript").all()
  const queued = database.prepare("SELECT id FROM queue").all()
  const answers = rows.filter(({ role }) => role === "assistant")
  const isOpen = ({ status }: (typeof rows)[number]): boolean => status === "running" || status === "waiting"
  const calls = answers.flatMap((row) => (isOpen(row) || row["usage"] === null ? [] : [String(row["usage"])]))
  const entries = calls.flatMap((json) => callsToEntries(JSON.parse(json) as PricedCall[], "", ""))
  return {
    user: String(session?.["user"]),
    spent: sumSpending(entries),
    running: answers.filter(isOpen).length,
    messages: [...rows.filter(({ role }) => role === "user"), ...queued].map(({ id }) => String(id)),
    unanswered: answers.filter(({ reason }) => reason === "budget_exhausted").map((row) => String(row["exchange_id"])),
  }
}
