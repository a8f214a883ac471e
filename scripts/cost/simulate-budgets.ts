/**
 * simulate-budgets.ts: simulates a tenant with budgets in the hours around the end of a month. The tenant's object is
 * reduced to a counter. Pure and seeded.
 *
 * attempted turns → the user's lease → refused, or counted → every eighth turn renews the lease with the tenant
 * Most sessions begin at midnight (UTC), so budget resets, lease renewals and reports of remainders coincide.
 */

import { createRandom, type Random } from "./random.ts"
import { addCachedReads, createArrivals, maxOf, NO_TOKENS, type Perform, simulateSession } from "./simulate-day.ts"
import { PROFILE } from "./usage-profile.ts"

const HOUR_SECONDS = 3_600
/** The time when most sessions begin, and when the day and the month end. */
const MIDNIGHT = 12 * HOUR_SECONDS
const DURATION_SECONDS = 30 * HOUR_SECONDS

export interface BudgetPlan {
  readonly seed: number
  readonly sessions: number
  /** The tenant's daily budget, in turns of mean size. */
  readonly tenantTurns: number
  /** Each user's own daily budget, in turns of mean size. */
  readonly userTurns: number
  /** Sessions in the busiest minute, as a multiple of the mean. */
  readonly peakFactor: number
  readonly isolates: number
  readonly cacheSeconds: readonly number[]
  /** The month's remainders are reported within this time after its end (USAGE_CLOSING_MS), in seconds. */
  readonly closingSeconds: number
  /**
   * How long an isolate caches the answer that a tenant's budget is used up (SHARED_ANSWER_MS), in seconds; 0 disables
   * caching.
   */
  readonly sharedSeconds: number
}

/** The largest tenant of a million sessions. It uses up its budget before midnight and again a few hours later. */
export const LARGEST_UNDER_BUDGETS: BudgetPlan = {
  seed: 1,
  sessions: 200_000,
  tenantTurns: 120_000,
  userTurns: 16,
  peakFactor: 5,
  isolates: 200,
  cacheSeconds: [30, 180],
  closingSeconds: 12 * HOUR_SECONDS,
  sharedSeconds: 60,
}

/** A refused user retries after these delays, in seconds, and then abandons the session. */
const RETRY_SECONDS = [30, 120] as const
const PAUSE_SECONDS = 600

/** An attempt is encoded as one number: the user's number plus MAX_USERS for each retry. */
const MAX_USERS = 2 ** 24

/**
 * The minimum pause between a refused user's calls to the tenant: first value and maximum (ASK_PAUSE_MS,
 * MAX_ASK_PAUSE_MS), in seconds.
 */
const ASK_PAUSE = { first: 5, max: 300 } as const

export interface SimulatedBudgets {
  readonly attempts: number
  readonly turns: number
  readonly refused: number
  /** Calls from directories to the tenant's object, by cause. */
  readonly calls: { readonly leases: number; readonly refusals: number; readonly remainders: number }
  /**
   * The largest number of requests to the tenant's object in a second, and in a second of the minute after midnight.
   */
  readonly peak: { readonly tenant: number; readonly midnight: number }
  /**
   * Turns beyond the tenant's budget on the first day, and the most turns that could still have been unreported when
   * the budget ran out.
   */
  readonly overshoot: { readonly turns: number; readonly bound: number }
}

/** What a directory has recorded about its user. Tokens are measured in turns of mean size. */
interface UserState {
  /** Turns since the last report, and the usage since then that belongs to this day. */
  unreportedTurns: number
  unreported: number
  /** The user's usage on this day. */
  own: number
  /** The usage of all users on this day, as last received by the directory. */
  known: number
  day: number
  askedAt: number
  pause: number
  /** After a refusal, the user begins no further turn until this time. */
  awayUntil: number
  readonly closesAt: number
}

export function simulateBudgets(plan: BudgetPlan): SimulatedBudgets {
  return new MonthEndSimulation(plan).run()
}

class MonthEndSimulation {
  readonly #plan: BudgetPlan
  readonly #random: Random
  readonly #users: readonly UserState[]
  readonly #requests = new Uint32Array(DURATION_SECONDS)
  readonly #cached = new Uint32Array(DURATION_SECONDS)
  /** By second: the turns that users attempt, the turns that end, and the users who report a remainder. */
  readonly #attempts: (number[] | undefined)[] = new Array(DURATION_SECONDS)
  readonly #ends: (number[] | undefined)[] = new Array(DURATION_SECONDS)
  readonly #remainders: (number[] | undefined)[] = new Array(DURATION_SECONDS)
  /** By isolate: when an answer said that the tenant's budget is used up, in seconds. */
  readonly #usedUpAt: Float64Array
  /** The usage on this day, as counted by the tenant's object. */
  #counted = 0
  #spent = [0, 0]
  #tally = { attempts: 0, turns: 0, refused: 0, leases: 0, refusals: 0, remainders: 0 }

  constructor(plan: BudgetPlan) {
    this.#plan = plan
    this.#random = createRandom(plan.seed)
    this.#usedUpAt = new Float64Array(plan.isolates).fill(-Infinity)
    const users = Math.round(plan.sessions / PROFILE.sessionsPerUser)
    this.#users = Array.from({ length: users }, () => this.#createUser())
  }

  #createUser(): UserState {
    const unreportedTurns = this.#random.below(PROFILE.batchTurns)
    const closesAt = MIDNIGHT + Math.floor(this.#random.next() * this.#plan.closingSeconds)
    const none = { unreported: 0, own: 0, known: 0, day: 0, pause: 0, awayUntil: 0 }
    return { ...none, unreportedTurns, askedAt: -Infinity, closesAt }
  }

  run(): SimulatedBudgets {
    const arrivals = createArrivals(this.#plan.peakFactor, MIDNIGHT)
    this.#users.forEach((user, id) => {
      this.#planUser(id, arrivals)
      scheduleAt(this.#remainders, user.closesAt, id)
    })
    for (let second = 0; second < DURATION_SECONDS; second++) this.#playSecond(second)
    const { isolates, cacheSeconds } = this.#plan
    for (const one of cacheSeconds)
      addCachedReads(this.#requests, this.#cached, this.#random, { isolates, cacheSeconds: one })
    return this.#createSummary()
  }

  #planUser(id: number, arrivals: (random: Random) => number): void {
    const tokens = { ...NO_TOKENS }
    const performOperation: Perform = (operation, at) => {
      if (operation === "firstToken") this.#countRequest(Math.floor(at))
      const second = Math.floor(at)
      if ((operation === "createSession" || operation === "listSessions") && second < DURATION_SECONDS)
        this.#cached[second] = (this.#cached[second] ?? 0) + 1
      if (operation === "firstTurn" || operation === "turn") scheduleAt(this.#attempts, at, id)
    }
    const starts = Array.from({ length: this.#random.poisson(PROFILE.sessionsPerUser) }, () => arrivals(this.#random))
    for (const start of starts.sort((a, b) => a - b)) simulateSession(this.#random, start, tokens, performOperation)
  }

  #playSecond(second: number): void {
    if (second === MIDNIGHT) this.#counted = 0
    for (const id of this.#ends[second] ?? []) this.#endTurn(id, this.#random.exponential(1), second)
    for (const attempt of this.#attempts[second] ?? []) this.#attemptTurn(attempt, second)
    for (const id of this.#remainders[second] ?? []) this.#reportRemainder(id, second)
  }

  #attemptTurn(attempt: number, second: number): void {
    const [id, tries] = [attempt % MAX_USERS, Math.floor(attempt / MAX_USERS)]
    const user = this.#rollOverUser(id, second)
    if (tries === 0 && second < user.awayUntil) return
    this.#tally.attempts += 1
    if (!this.#mayBegin(id, user, second)) {
      this.#tally.refused += 1
      const wait = RETRY_SECONDS[tries]
      if (wait !== undefined) scheduleAt(this.#attempts, second + wait, attempt + MAX_USERS)
      user.awayUntil = second + PAUSE_SECONDS
      return
    }
    user.pause = 0
    this.#tally.turns += 1
    scheduleAt(this.#ends, second + 4, id)
  }

  #mayBegin(id: number, user: UserState, second: number): boolean {
    const { userTurns, tenantTurns } = this.#plan
    const isOwnBudgetUsedUp = user.own >= userTurns
    if (!isOwnBudgetUsedUp && user.known < tenantTurns) return true
    const isolate = id % this.#plan.isolates
    if (!isOwnBudgetUsedUp && second - (this.#usedUpAt[isolate] ?? 0) < this.#plan.sharedSeconds) return false
    if (second - user.askedAt < user.pause) return false
    user.askedAt = second
    user.pause = Math.min(user.pause === 0 ? ASK_PAUSE.first : user.pause * 2.25, ASK_PAUSE.max)
    this.#tally.refusals += 1
    this.#askTenant(id, user, second)
    return user.own < userTurns && user.known < tenantTurns
  }

  #endTurn(id: number, size: number, second: number): void {
    const user = this.#rollOverUser(id, second)
    user.own += size
    user.known += size
    user.unreported += size
    user.unreportedTurns += 1
    const day = second < MIDNIGHT ? 0 : 1
    this.#spent[day] = (this.#spent[day] ?? 0) + size
    if (user.unreportedTurns < PROFILE.batchTurns) return
    this.#tally.leases += 1
    this.#askTenant(id, user, second)
  }

  #reportRemainder(id: number, second: number): void {
    const user = this.#rollOverUser(id, second)
    if (user.unreportedTurns === 0) return
    this.#tally.remainders += 1
    this.#askTenant(id, user, second)
  }

  /** Reports the user's usage, and receives the usage of all users. */
  #askTenant(id: number, user: UserState, second: number): void {
    this.#countRequest(second)
    this.#counted += user.unreported
    user.unreported = 0
    user.unreportedTurns = 0
    user.known = this.#counted
    if (user.known >= this.#plan.tenantTurns) this.#usedUpAt[id % this.#plan.isolates] = second
  }

  #rollOverUser(id: number, second: number): UserState {
    const user = this.#users[id]
    if (user === undefined) throw new Error(`no user ${id}`)
    const day = second < MIDNIGHT ? 0 : 1
    // The directory resets its own meters without a call.
    if (user.day === day) return user
    user.day = day
    user.own = 0
    user.known = 0
    user.unreported = 0
    user.pause = 0
    return user
  }

  #countRequest(second: number): void {
    if (second < DURATION_SECONDS) this.#requests[second] = (this.#requests[second] ?? 0) + 1
  }

  #createSummary(): SimulatedBudgets {
    const { attempts, turns, refused, leases, refusals, remainders } = this.#tally
    const { tenantTurns } = this.#plan
    return {
      attempts,
      turns,
      refused,
      calls: { leases, refusals, remainders },
      peak: { tenant: maxOf(this.#requests), midnight: maxOf(this.#requests.subarray(MIDNIGHT, MIDNIGHT + 60)) },
      overshoot: { turns: (this.#spent[0] ?? 0) - tenantTurns, bound: this.#users.length * PROFILE.batchTurns },
    }
  }
}

function scheduleAt<T>(bySecond: (T[] | undefined)[], at: number, value: T): void {
  const second = Math.floor(at)
  if (second >= DURATION_SECONDS) return
  const list = bySecond[second]
  if (list === undefined) bySecond[second] = [value]
  else list.push(value)
}
