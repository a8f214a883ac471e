/**
 * simulate-day.ts: simulates a day of many sessions, with objects reduced to counters. Pure and seeded.
 *
 * users → sessions at times of the day → operations → requests of each object per second, billed amounts
 * Operations and the caches of isolates send requests to a tenant's object. A user's operations also send requests to
 * the user's directory.
 */

import { OPERATION_COSTS, type Operation, type OperationCost } from "./operation-costs.ts"
import { type BilledAmounts, priceOf } from "./prices.ts"
import { createRandom, type Random } from "./random.ts"
import { MEAN_OPERATIONS, PROFILE, sumOperations } from "./usage-profile.ts"

const DAY_SECONDS = 24 * 3600
/** The simulation continues after midnight, because sessions that began before midnight are still running. */
const COUNTED_SECONDS = DAY_SECONDS + 6 * 3600

export interface DayPlan {
  readonly seed: number
  readonly sessions: number
  readonly tenants: number
  /** Share of all users that the largest tenant has. */
  readonly largestShare: number
  /** Sessions in the busiest minute, as a multiple of the mean. */
  readonly peakFactor: number
  /** Isolates of the Worker and of the objects that serve a tenant. Each has a cache of its own. */
  readonly isolates: number
  /**
   * How long an isolate caches the access to the tenant (TOKEN_TRUST_MS) and an agent (CONFIG_TRUST_MS), in seconds.
   */
  readonly cacheSeconds: readonly number[]
}

export const MILLION_SESSIONS: DayPlan = {
  seed: 1,
  sessions: 1_000_000,
  tenants: 200,
  largestShare: 0.2,
  peakFactor: 5,
  isolates: 200,
  cacheSeconds: [30, 180],
}

export interface SimulatedDay {
  readonly sessions: number
  readonly users: number
  readonly operations: Readonly<Record<Operation, number>>
  /** The largest numbers in one second: sessions that begin, and requests to any single object of each class. */
  readonly peak: { readonly sessions: number; readonly tenant: number; readonly directory: number }
  readonly billed: BilledAmounts
  /** US dollars, without storage. */
  readonly price: number
}

export function simulateDay(plan: DayPlan): SimulatedDay {
  const random = createRandom(plan.seed)
  const arrivals = createArrivals(plan.peakFactor)
  const operations = Object.fromEntries(Object.keys(OPERATION_COSTS).map((name) => [name, 0])) as Record<
    Operation,
    number
  >
  const started = new Uint32Array(COUNTED_SECONDS)
  let [users, sessions, tenantPeak, directoryPeak] = [0, 0, 0, 0]
  for (const tenantUsers of splitUsers(plan)) {
    const tenant = createTenantCounter()
    for (let user = 0; user < tenantUsers; user++) {
      const day = simulateUser(random, arrivals, operations, tenant)
      for (const second of day.starts) started[second] = (started[second] ?? 0) + 1
      sessions += day.starts.length
      directoryPeak = Math.max(directoryPeak, day.peak)
    }
    users += tenantUsers
    addCacheRequests(tenant, random, plan)
    tenantPeak = Math.max(tenantPeak, maxOf(tenant.requests))
  }
  const billed = sumOperations(operations)
  const peak = { sessions: maxOf(started), tenant: tenantPeak, directory: directoryPeak }
  return { sessions, users, operations, peak, billed, price: priceOf(billed) }
}

/**
 * Returns the cost of this many sessions, computed from the means in docs/cost.md, in US dollars and without storage.
 */
export function meanDayPrice(sessions: number): number {
  return sessions * priceOf(sumOperations(MEAN_OPERATIONS))
}

/** Returns the price of a million sessions in docs/cost.md, in US dollars. Throws if the page has none. */
export function parseDayPrice(page: string): number {
  const [, price] = /^\| one day \| \$([\d.]+) \|$/m.exec(page) ?? []
  if (price === undefined) throw new Error("docs/cost.md has no price of a day")
  return Number(price)
}

/** Returns the number of users of each tenant, the largest tenant first. The other tenants follow Zipf's law. */
function splitUsers({ sessions, tenants, largestShare }: DayPlan): number[] {
  const users = Math.round(sessions / PROFILE.sessionsPerUser)
  const largest = tenants === 1 ? users : Math.round(users * largestShare)
  const weights = Array.from({ length: tenants - 1 }, (_, i) => 1 / (i + 2))
  const sum = weights.reduce((total, weight) => total + weight, 0)
  return [largest, ...weights.map((weight) => Math.round(((users - largest) * weight) / sum))]
}

/**
 * Returns a function that draws the second of the day at which a session begins. The distribution has a constant part
 * and a peak around `middle`, by default two o'clock.
 */
export function createArrivals(peakFactor: number, middle = 14 * 3600): (random: Random) => number {
  const base = 0.2
  const height = peakFactor - base
  // The width at which the mean over the day is 1.
  const width = ((1 - base) * DAY_SECONDS) / (height * Math.sqrt(2 * Math.PI))
  const minutes = DAY_SECONDS / 60
  const sums = new Float64Array(minutes)
  let sum = 0
  for (let minute = 0; minute < minutes; minute++) {
    const distance = (minute * 60 - middle) / width
    sum += base + height * Math.exp((-distance * distance) / 2)
    sums[minute] = sum
  }
  return (random) => {
    const wanted = random.next() * sum
    let [low, high] = [0, minutes - 1]
    while (low < high) {
      const half = (low + high) >> 1
      if ((sums[half] ?? 0) < wanted) low = half + 1
      else high = half
    }
    return low * 60 + random.below(60)
  }
}

interface TenantCounter {
  /** Requests in each second. */
  readonly requests: Uint32Array
  /** Operations in each second that read the configuration through the cache of an isolate. */
  readonly cached: Uint32Array
}

function createTenantCounter(): TenantCounter {
  return { requests: new Uint32Array(COUNTED_SECONDS), cached: new Uint32Array(COUNTED_SECONDS) }
}

/** Operations that read the agent's configuration or check whether the tenant's tokens are accepted. */
const READS_CONFIGURATION: ReadonlySet<Operation> = new Set([
  "createSession",
  "openSocket",
  "renewSocket",
  "listSessions",
])

/** Counts an operation that happens at `at`, in seconds. */
export type Perform = (operation: Operation, at: number) => void

/** When the user's page got its newest token, and when the tenant last admitted the user, in seconds. */
export interface Tokens {
  issuedAt: number
  admittedAt: number
}

export const NO_TOKENS: Tokens = { issuedAt: -Infinity, admittedAt: -Infinity }

interface UserDay {
  readonly starts: readonly number[]
  /** The largest number of requests to the user's directory in one second. */
  readonly peak: number
}

function simulateUser(
  random: Random,
  drawStart: (random: Random) => number,
  operations: Record<Operation, number>,
  tenant: TenantCounter,
): UserDay {
  const directory = new Map<number, number>()
  const performOperation: Perform = (operation, at) => {
    const second = Math.min(Math.floor(at), COUNTED_SECONDS - 1)
    const cost: OperationCost = OPERATION_COSTS[operation]
    operations[operation] += 1
    directory.set(second, (directory.get(second) ?? 0) + (cost.DIRECTORY?.requests ?? 0))
    tenant.requests[second] = (tenant.requests[second] ?? 0) + (cost.TENANT?.requests ?? 0)
    if (READS_CONFIGURATION.has(operation)) tenant.cached[second] = (tenant.cached[second] ?? 0) + 1
  }
  const starts = Array.from({ length: random.poisson(PROFILE.sessionsPerUser) }, () => drawStart(random))
  starts.sort((a, b) => a - b)
  const tokens = { ...NO_TOKENS }
  const turns: number[] = []
  for (const start of starts) turns.push(...simulateSession(random, start, tokens, performOperation))
  reportUsage(random, turns, performOperation)
  return { starts, peak: Math.max(0, ...directory.values()) }
}

/**
 * The directory reports some time after eight turns have ended. The count starts with a remainder from earlier days.
 */
export function reportUsage(random: Random, turns: number[], perform: Perform): void {
  turns.sort((a, b) => a - b)
  const { batchTurns, batchSeconds, batchSpreadSeconds } = PROFILE
  let count = random.below(batchTurns)
  for (const at of turns) {
    count += 1
    if (count < batchTurns) continue
    perform("usageBatch", at + batchSeconds + random.next() * batchSpreadSeconds)
    count = 0
  }
}

/** Returns the times at which turns end. */
export function simulateSession(random: Random, start: number, tokens: Tokens, perform: Perform): number[] {
  const renewToken = (at: number): void => {
    const isAdmitted = at - tokens.admittedAt < PROFILE.admissionSeconds
    perform(isAdmitted ? "nextToken" : "firstToken", at)
    if (!isAdmitted) tokens.admittedAt = at
    tokens.issuedAt = at
  }
  // The page is newly opened, so it has no token.
  renewToken(start)
  for (const operation of ["listSessions", "createSession", "openSocket"] as const) perform(operation, start)
  const turns = random.geometric(PROFILE.turns)
  let now = start + random.exponential(PROFILE.thinkSeconds)
  const renewUntil = (end: number): void => {
    for (let due = tokens.issuedAt + PROFILE.tokenSeconds; due < end; due += PROFILE.tokenSeconds) {
      renewToken(due)
      perform("renewSocket", due)
    }
  }
  const ends: number[] = []
  for (let turn = 0; turn < turns; turn++) {
    renewUntil(now)
    const operation = turn === 0 ? "firstTurn" : "turn"
    perform(operation, now)
    const end = now + OPERATION_COSTS[operation].answerSeconds
    ends.push(end)
    now = end + random.exponential(PROFILE.thinkSeconds)
  }
  renewUntil(now + random.exponential(PROFILE.readSeconds))
  return ends
}

/**
 * Adds the requests of the isolates. The Worker's isolates cache the access to the tenant, and the sessions' isolates
 * cache the agent.
 */
function addCacheRequests({ requests, cached }: TenantCounter, random: Random, plan: DayPlan): void {
  const { isolates } = plan
  for (const cacheSeconds of plan.cacheSeconds) addCachedReads(requests, cached, random, { isolates, cacheSeconds })
}

/**
 * Adds the requests for one value that isolates cache. Each isolate that reads it requests it at most once per
 * `cacheSeconds`.
 */
export function addCachedReads(
  requests: Uint32Array,
  reads: Uint32Array,
  random: Random,
  { isolates, cacheSeconds }: { readonly isolates: number; readonly cacheSeconds: number },
): void {
  const askedAt = new Float64Array(isolates).fill(-Infinity)
  reads.forEach((count, second) => {
    for (let n = count; n > 0; n--) {
      const isolate = random.below(isolates)
      if (second - (askedAt[isolate] ?? 0) < cacheSeconds) continue
      askedAt[isolate] = second
      requests[second] = (requests[second] ?? 0) + 1
    }
  })
}

export function maxOf(values: Uint32Array): number {
  return values.reduce((max, value) => Math.max(max, value), 0)
}
