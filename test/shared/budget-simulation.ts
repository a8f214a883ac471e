/**
 * budget-simulation.ts: simulates sessions of several users under budgets, in virtual time. Turns have random sizes,
 * reports are late, lost or repeated, and processes are killed. The simulation calls the same budget code as the
 * Durable Objects; this code does no I/O.
 */

import { NO_SPENDING, type Spending, addSpending } from "../../shared/usage/budget-meter.ts"
import type { UserLimits } from "../../shared/usage/budget-limits.ts"
import { beginWithLease, canBegin, countInLease } from "../../shared/usage/session-budget.ts"
import {
  applyGrant,
  countTurn,
  decideTurn,
  type GivenLease,
  leaseNextTurn,
  listOtherLeases,
  MAX_RUNNING_MS,
  needsRenewal,
  type SessionLease,
  type UserAccount,
} from "../../shared/usage/user-account.ts"

export interface Plan {
  readonly seed: number
  readonly users: number
  readonly sessionsPerUser: number
  readonly turnsPerSession: number
  readonly limits: UserLimits
  readonly maxTurnTokens: number
  /** The percentage of steps that kill a process. */
  readonly kills: number
}

interface Report {
  readonly n: number
  readonly use: Spending
}

interface SimSession {
  readonly user: SimUser
  readonly id: string
  turnsLeft: number
  lease: SessionLease | null
  /** The usage of the running turn; null if none is running. */
  running: Spending | null
  /** Reports of all turns that have ended, which the session stores. */
  readonly reports: Report[]
  acknowledged: number
}

interface SimUser {
  readonly id: number
  /** The user's account, which the directory stores. */
  account: UserAccount | null
  counted: Spending
  turnsCounted: number
  readonly countedBySession: Map<string, number>
  sentToTenant: Spending
  /** The leases given to sessions. They exist only in memory. */
  given: GivenLease[]
  isRenewing: boolean
}

export interface Outcome {
  readonly turns: number
  readonly refused: number
  readonly tenantCalls: number
  /** Number of calls that were in progress when a directory was killed, and are therefore repeated. */
  readonly lostRenewals: number
  /** Usage of all turns that have ended, according to the sessions' own rows. */
  readonly spent: Spending
  readonly counted: Spending
  readonly tenantCounted: Spending
  /**
   * For each user, the total usage, and how much of it belongs to turns that had begun or had a lease when the budget
   * was used up.
   */
  readonly users: readonly Excess[]
  readonly tenant: Excess
}

export interface Excess {
  readonly spent: number
  /** Usage that was uncounted when the budget was used up, and usage of later turns that already had a lease then. */
  readonly leased: number
  /** Number of turns that began after the budget was used up, and that had no earlier lease. */
  readonly unleased: number
}

/** Records how far the usage of one budget exceeds it after it has been used up. */
class Watch {
  readonly limit: number
  isUsedUp = false
  leased = 0
  unleased = 0
  /** The sessions that may begin one more turn. */
  readonly #leasedSessions = new Set<string>()
  /** The users whose directory has not yet learned that the budget is used up. */
  readonly #unaware = new Set<SimUser>()

  constructor(limit: number) {
    this.limit = limit
  }

  /** Called when the count has changed. `uncounted` is the usage of `sessions` that is not counted yet. */
  observe(counted: number, uncounted: number, sessions: readonly SimSession[], unaware: readonly SimUser[] = []): void {
    if (this.isUsedUp || counted < this.limit) return
    this.isUsedUp = true
    this.leased = counted - this.limit + uncounted
    this.keepLeases(sessions)
    for (const user of unaware) this.#unaware.add(user)
  }

  keepLeases(sessions: readonly SimSession[]): void {
    for (const { id, lease } of sessions) if ((lease?.turns ?? 0) > 0) this.#leasedSessions.add(id)
  }

  /** Called when a user's directory learns that the budget is used up. */
  inform(user: SimUser, sessions: readonly SimSession[]): void {
    if (this.isUsedUp && this.#unaware.delete(user)) this.keepLeases(sessions)
  }

  begin({ id, user }: SimSession, use: Spending): void {
    if (!this.isUsedUp) return
    if (this.#unaware.has(user) || this.#leasedSessions.delete(id)) this.leased += use.tokens
    else this.unleased += 1
  }
}

export class BudgetSimulation {
  readonly #plan: Plan
  readonly #users: SimUser[]
  readonly #sessions: SimSession[]
  readonly #queue: { at: number; order: number; run: () => void }[] = []
  readonly #userWatches: Watch[]
  readonly #tenantWatch: Watch
  #random: number
  #now = Date.UTC(2026, 10, 22, 9)
  #order = 0
  #turns = 0
  #refused = 0
  #tenantCalls = 0
  #lostRenewals = 0
  #tenantCounted: Spending = NO_SPENDING

  constructor(plan: Plan) {
    this.#plan = plan
    this.#random = plan.seed
    this.#users = Array.from({ length: plan.users }, (_, id) => ({
      id,
      account: null,
      counted: NO_SPENDING,
      turnsCounted: 0,
      countedBySession: new Map(),
      sentToTenant: NO_SPENDING,
      given: [],
      isRenewing: false,
    }))
    this.#sessions = this.#users.flatMap((user) =>
      Array.from({ length: plan.sessionsPerUser }, (_, n) => ({
        user,
        id: `${user.id}.${n}`,
        turnsLeft: plan.turnsPerSession,
        lease: null,
        running: null,
        reports: [],
        acknowledged: 0,
      })),
    )
    this.#userWatches = this.#users.map(() => new Watch(plan.limits.user.tokens_per_day ?? Infinity))
    this.#tenantWatch = new Watch(plan.limits.tenant.tokens_per_day ?? Infinity)
  }

  run(): Outcome {
    // Each user's first contact. The response contains the limits.
    for (const user of this.#users) this.#answerDirectory(user)
    for (const session of this.#sessions) this.#later(this.#pick(60_000), () => this.#attempt(session))
    for (let next = this.#next(); next !== null; next = this.#next()) next()
    // The next report repeats everything that was lost, so send a last one here.
    for (const session of this.#sessions) this.#report(session)
    for (const user of this.#users) this.#answerDirectory(user)
    return this.#summarise()
  }

  #summarise(): Outcome {
    const spentOf = (user: SimUser): Spending =>
      this.#listSessions(user)
        .flatMap(({ reports }) => reports.map(({ use }) => use))
        .reduce(addSpending, NO_SPENDING)
    const toExcess = (watch: Watch, spent: Spending): Excess => ({
      spent: spent.tokens,
      leased: watch.leased,
      unleased: watch.unleased,
    })
    const spent = this.#users.map(spentOf)
    const total = spent.reduce(addSpending, NO_SPENDING)
    return {
      turns: this.#turns,
      refused: this.#refused,
      tenantCalls: this.#tenantCalls,
      lostRenewals: this.#lostRenewals,
      spent: total,
      counted: this.#users.map(({ counted }) => counted).reduce(addSpending, NO_SPENDING),
      tenantCounted: this.#tenantCounted,
      users: this.#userWatches.map((watch, at) => toExcess(watch, spent[at] ?? NO_SPENDING)),
      tenant: toExcess(this.#tenantWatch, total),
    }
  }

  #attempt(session: SimSession): void {
    if (session.turnsLeft === 0 || session.running !== null) return
    session.turnsLeft -= 1
    if (this.#happens(this.#plan.kills)) session.lease = null
    if (!canBegin(session.lease, this.#now)) this.#ask(session)
    const { lease } = session
    if (lease === null || !canBegin(lease, this.#now)) {
      this.#refused += 1
      return this.#later(this.#pick(60_000), () => this.#attempt(session))
    }
    session.lease = beginWithLease(lease)
    const use = { tokens: this.#pick(this.#plan.maxTurnTokens), cost: this.#pick(100) }
    session.running = use
    this.#turns += 1
    this.#userWatches[session.user.id]?.begin(session, use)
    this.#tenantWatch.begin(session, use)
    this.#markRunning(session)
    this.#later(this.#pick(20_000), () => this.#end(session))
  }

  /** Ends a session's running turn, and stores the turn's usage. */
  #end(session: SimSession): void {
    const { running } = session
    if (running === null) return
    session.running = null
    session.reports.push({ n: session.reports.length + 1, use: running })
    if (session.lease !== null) session.lease = countInLease(session.lease, running, this.#now)
    if (this.#happens(this.#plan.kills)) session.lease = null
    // A report may be late or lost. In that case, the next report repeats its contents.
    const isLost = this.#happens(this.#plan.kills)
    if (!isLost) this.#later(this.#pick(200), () => this.#report(session))
    if (this.#happens(this.#plan.kills)) this.#later(this.#pick(5_000), () => this.#report(session))
    this.#later(this.#pick(60_000), () => this.#attempt(session))
  }

  #ask(session: SimSession): void {
    const { user } = session
    this.#killDirectory(user)
    this.#report(session)
    if (user.account === null) return
    const others = listOtherLeases(user.given, session.id, this.#now)
    const decision = decideTurn(user.account, others, this.#now)
    if ("refusal" in decision) return
    session.lease = decision.lease
    user.given = [...others, { session: session.id, until: decision.lease.until, isRunning: true }]
  }

  #markRunning({ user, id }: SimSession): void {
    const others = listOtherLeases(user.given, id, this.#now)
    user.given = [...others, { session: id, until: this.#now + MAX_RUNNING_MS, isRunning: true }]
  }

  /** Counts a session's uncounted reports, and gives the session its next lease. */
  #report(session: SimSession): void {
    const { user } = session
    this.#killDirectory(user)
    const known = user.countedBySession.get(session.id) ?? 0
    for (const { n, use } of session.reports.filter((report) => report.n > known)) {
      user.countedBySession.set(session.id, n)
      user.counted = addSpending(user.counted, use)
      user.turnsCounted += 1
      if (user.account !== null) user.account = countTurn(user.account, use, this.#now)
      session.acknowledged = n
      const own = this.#listSessions(user)
      this.#userWatches[user.id]?.observe(user.counted.tokens, countOpenTokens(own), own)
    }
    if (user.account === null) return
    const others = listOtherLeases(user.given, session.id, this.#now)
    const next = session.running === null ? leaseNextTurn(user.account, others, this.#now) : null
    if (next !== null) session.lease = next
    const mine = { session: session.id, until: this.#now + MAX_RUNNING_MS, isRunning: session.running !== null }
    user.given = next?.turns === 0 ? others : [...others, next === null ? mine : { ...mine, until: next.until }]
    if (needsRenewal(user.account) && !user.isRenewing) this.#renew(user)
  }

  #renew(user: SimUser): void {
    user.isRenewing = true
    this.#later(this.#pick(300), () => {
      user.isRenewing = false
      if (!this.#happens(this.#plan.kills)) this.#answerDirectory(user)
    })
  }

  #answerDirectory(user: SimUser): void {
    this.#tenantCalls += 1
    this.#tenantCounted = addSpending(this.#tenantCounted, {
      tokens: user.counted.tokens - user.sentToTenant.tokens,
      cost: user.counted.cost - user.sentToTenant.cost,
    })
    user.sentToTenant = user.counted
    const unsent = this.#users.reduce((sum, { counted, sentToTenant }) => sum + counted.tokens - sentToTenant.tokens, 0)
    this.#tenantWatch.observe(
      this.#tenantCounted.tokens,
      unsent + countOpenTokens(this.#sessions),
      this.#sessions,
      this.#users,
    )
    this.#tenantWatch.inform(user, this.#listSessions(user))
    const spent = { day: this.#tenantCounted, month: this.#tenantCounted }
    const own = { day: user.counted, month: user.counted }
    const none = { day: NO_SPENDING, month: NO_SPENDING }
    user.account = applyGrant(user.account, { limits: this.#plan.limits, spent, at: this.#now }, own, none)
  }

  #listSessions(user: SimUser): SimSession[] {
    return this.#sessions.filter((session) => session.user === user)
  }

  #killDirectory(user: SimUser): void {
    if (!this.#happens(this.#plan.kills)) return
    if (user.isRenewing) this.#lostRenewals += 1
    user.given = []
    user.isRenewing = false
  }

  #later(ms: number, run: () => void): void {
    this.#queue.push({ at: this.#now + ms, order: this.#order, run })
    this.#order += 1
  }

  #next(): (() => void) | null {
    let first = 0
    for (let at = 1; at < this.#queue.length; at++) {
      const [one, other] = [this.#queue[at], this.#queue[first]]
      if (one !== undefined && other !== undefined && (one.at - other.at || one.order - other.order) < 0) first = at
    }
    const [next] = this.#queue.splice(first, 1)
    if (next === undefined) return null
    this.#now = next.at
    return next.run
  }

  #happens(percent: number): boolean {
    return this.#pick(100) <= percent
  }

  /** Returns a whole number from 1 to `max` (mulberry32). */
  #pick(max: number): number {
    this.#random = (this.#random + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#random ^ (this.#random >>> 15), 1 | this.#random)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return 1 + (((mixed ^ (mixed >>> 14)) >>> 0) % max)
  }
}

/** Returns the usage that the directories of these sessions have not counted yet, including running turns. */
function countOpenTokens(sessions: readonly SimSession[]): number {
  return sessions.reduce((sum, { reports, acknowledged, running }) => {
    const uncounted = reports.slice(acknowledged).reduce((tokens, { use }) => tokens + use.tokens, 0)
    return sum + uncounted + (running?.tokens ?? 0)
  }, 0)
}
