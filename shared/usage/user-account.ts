/**
 * user-account.ts: one user's budgets, as the user's directory keeps them. The directory holds a lease from the tenant
 * and gives leases to the user's sessions. Pure.
 *
 * tenant (all users) → USER ACCOUNT → session
 * A lease allows turns to begin without a request. The tenant's lease covers RENEW_TURNS turns, and those that end
 * before the tenant's next reply arrives. A session's lease covers one turn. SPEC BU9 and BU24 define by how much
 * budgets can be exceeded.
 */

import type { BudgetName } from "../fault.ts"
import { MODEL_CONTEXT_TOKENS } from "../limits.ts"
import {
  type BudgetLimit,
  findStrictest,
  listMeteredLimits,
  METERED_BUDGETS,
  type MeteredBudget,
  type UserLimits,
} from "./budget-limits.ts"
import {
  addToMeter,
  type BudgetRefusal,
  findExhausted,
  hasRoomFor,
  type Meter,
  NO_SPENDING,
  addCounts,
  type Spending,
} from "./budget-meter.ts"
import { toPeriod } from "./period.ts"

/** Number of a user's turns after which the directory asks the tenant for a new lease. */
export const RENEW_TURNS = 8

/** Number of turns after which no more turns can begin if the tenant has not replied. */
export const MAX_UNRENEWED_TURNS = 4 * RENEW_TURNS

/**
 * A session's unused lease ends after this time, in milliseconds. After that, the session's next turn asks the
 * directory for a new lease.
 */
export const SESSION_LEASE_MS = 5 * 60_000

/**
 * Like SESSION_LEASE_MS, but for a lease that a session requested for a turn. That turn begins at once or never. Until
 * it begins, the lease counts as a running turn.
 */
export const ASKED_LEASE_MS = 60_000

/** A turn whose end is not reported counts as running for this long, in milliseconds: longer than any turn lasts. */
export const MAX_RUNNING_MS = 60 * 60_000

/** Once an account tracks this many leases, it gives no more leases in advance. */
const MAX_GIVEN = 64

/**
 * If there are at least this many running turns or leases, each is expected to use at least as much as a large turn,
 * because the size of the latest turns says little about the next one. This rule bounds by how much a budget can be
 * exceeded.
 */
export const MAX_UNCERTAIN_TURNS = 8

/** The usage of a large turn: a whole context, for 2 USD. */
const LARGE_TURN: Spending = { tokens: MODEL_CONTEXT_TOKENS, cost: 2_000_000_000 }

/** The spending of a day, and of the month that contains it. */
export interface PeriodSpending {
  readonly day: Spending
  readonly month: Spending
}

/** The tenant's reply to a directory. */
export interface TenantGrant {
  readonly limits: UserLimits
  /**
   * The spending of all the tenant's users, in the day and the month of `at`. It includes all of this user's counted
   * reports.
   */
  readonly spent: PeriodSpending
  /** When the tenant replied, in milliseconds since 1970. */
  readonly at: number
}

/** The directory's reply to a session. */
export interface SessionLease {
  readonly meters: readonly Meter[]
  /** Number of turns that may begin without a request: 0 or 1. */
  readonly turns: number
  /** When the lease ends, in milliseconds since 1970. */
  readonly until: number
}

/** The stored part of an account, as JSON. */
export interface UserAccount {
  readonly limits: UserLimits
  readonly meters: readonly Meter[]
  /** Turns that ended since the tenant's last reply. */
  readonly turns: number
  /** Roughly the usage of the largest recent turn. It decreases by an eighth with each turn. */
  readonly largest: Spending
}

/** A lease that a session holds. Kept only in memory. */
export interface GivenLease {
  readonly session: string
  /** When the lease ends if the session sends no report, in milliseconds since 1970. */
  readonly until: number
  /** Whether a turn has used the lease to begin. */
  readonly isRunning: boolean
}

/** The decision about a turn. `unchecked`: the tenant has been unreachable for too long. */
export type TurnDecision = { readonly lease: SessionLease } | { readonly refusal: BudgetRefusal | "unchecked" }

/**
 * Returns the account after a reply from the tenant.
 *
 * @param own the user's spending in the day and month of `grant.at`, from the directory's own ledger
 * @param unreported the part of `own` that the reply does not include
 */
export function applyGrant(
  before: UserAccount | null,
  { limits, spent, at }: TenantGrant,
  own: PeriodSpending,
  unreported: PeriodSpending,
): UserAccount {
  const meters = listMeteredLimits(limits).map((limit) => {
    const { unit, period } = METERED_BUDGETS[limit.budget]
    const isShared = limit.scope === "tenant"
    const known = before?.meters.find(
      (meter) => meter.budget === limit.budget && isShared === (meter.scope === "tenant"),
    )
    // By this object's clock, a new period has begun; by the tenant's, it has not. Keeps the count for the new period.
    if (known !== undefined && toPeriod(period, known.at) > toPeriod(period, at)) return { ...known, ...limit }
    const others = isShared ? addCounts(spent[period][unit], unreported[period][unit]) : own[period][unit]
    return { ...limit, spent: others, at: Math.max(at, known?.at ?? 0) }
  })
  return { limits, meters, turns: 0, largest: before?.largest ?? NO_SPENDING }
}

/**
 * Returns whether, according to the tenant's reply, all users together have used up a tenant budget in a period that
 * has not ended.
 */
export function isUsedUpByAll({ limits, spent, at }: TenantGrant, budget: BudgetName, now: number): boolean {
  if (!isMetered(budget)) return false
  const { unit, period } = METERED_BUDGETS[budget]
  const limit = limits.tenant[budget]
  return limit !== undefined && spent[period][unit] >= limit && toPeriod(period, at) === toPeriod(period, now)
}

function isMetered(budget: BudgetName): budget is MeteredBudget {
  return Object.hasOwn(METERED_BUDGETS, budget)
}

/** Returns whether the tenant should be asked for a new lease. */
export function needsRenewal(account: UserAccount): boolean {
  return account.turns >= RENEW_TURNS
}

/** Returns the account after a turn. The turn's spending is counted in full, even beyond a budget. */
export function countTurn(account: UserAccount, use: Spending, now: number): UserAccount {
  const shrinkLease = (size: number): number => size - Math.ceil(size / RENEW_TURNS)
  return {
    limits: account.limits,
    meters: account.meters.map((meter) => addToMeter(meter, use, now)),
    turns: account.turns + 1,
    largest: {
      tokens: Math.max(use.tokens, shrinkLease(account.largest.tokens)),
      cost: Math.max(use.cost, shrinkLease(account.largest.cost)),
    },
  }
}

/** Returns the leases that are valid at a given time, except the given session's lease. */
export function listOtherLeases(given: readonly GivenLease[], session: string, now: number): GivenLease[] {
  return given.filter((lease) => lease.session !== session && lease.until > now)
}

/**
 * Decides whether a turn without a lease may begin.
 *
 * Turns that are already running reserve part of the remaining budget, so that many turns that begin at once cannot all
 * use it. An agent's question belongs to a running turn, so it is refused only if a budget is already used up or the
 * tenant has been unreachable for too long.
 */
export function decideTurn(
  account: UserAccount,
  others: readonly GivenLease[],
  now: number,
  isAgent = false,
): TurnDecision {
  const { meters, limits, largest } = account
  const exhausted = findExhausted(meters, now)
  if (exhausted !== null) return { refusal: exhausted }
  const isShared = meters.some(({ scope }) => scope === "tenant")
  if (isShared && account.turns >= MAX_UNRENEWED_TURNS) return { refusal: "unchecked" }
  const running = others.filter(({ isRunning }) => isRunning).length
  const blocking = isAgent ? null : (findConcurrency(limits, running) ?? findReserved(meters, running, largest, now))
  if (blocking !== null) return { refusal: { budget: blocking.budget, scope: blocking.scope, resets: null } }
  return { lease: { meters, turns: 1, until: now + ASKED_LEASE_MS } }
}

/**
 * Returns a session's lease after a turn. Its next turn may begin without a request if enough is left for every lease.
 */
export function leaseNextTurn(account: UserAccount, others: readonly GivenLease[], now: number): SessionLease {
  const { meters, limits, largest } = account
  const isFree =
    findStrictest(limits, "concurrent_turns") === null &&
    account.turns < MAX_UNRENEWED_TURNS &&
    others.length < MAX_GIVEN &&
    hasRoomFor(meters, others.length + 1, expectSize(others.length, largest), now)
  return { meters, turns: isFree ? 1 : 0, until: now + SESSION_LEASE_MS }
}

function findConcurrency(limits: UserLimits, running: number): BudgetLimit | null {
  const limit = findStrictest(limits, "concurrent_turns")
  return limit !== null && running >= limit.limit ? limit : null
}

/** Returns a limit that the running turns are expected to use up; null if there is none. */
function findReserved(
  meters: readonly Meter[],
  running: number,
  largest: Spending,
  now: number,
): BudgetLimit<MeteredBudget> | null {
  if (running === 0) return null
  const size = expectSize(running, largest)
  return meters.find((meter) => !hasRoomFor([meter], running, size, now)) ?? null
}

/**
 * Returns the expected usage of each turn: about that of the latest turns, or at least a large turn's usage if there
 * are many turns.
 */
function expectSize(turns: number, largest: Spending): Spending {
  if (turns < MAX_UNCERTAIN_TURNS) return largest
  return { tokens: Math.max(largest.tokens, LARGE_TURN.tokens), cost: Math.max(largest.cost, LARGE_TURN.cost) }
}
