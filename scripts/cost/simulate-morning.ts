/**
 * simulate-morning.ts: counts the requests to a tenant's object in the busiest second of a morning when its users sign
 * in around nine. Pure and seeded.
 */

import type { Operation } from "./operation-costs.ts"
import { createRandom } from "./random.ts"
import { addCachedReads, maxOf, NO_TOKENS, type Perform, reportUsage, simulateSession } from "./simulate-day.ts"

export interface MorningPlan {
  readonly seed: number
  readonly users: number
  /**
   * The peak time of the sign-ins, in seconds from the beginning of the simulation, and their standard deviation in
   * seconds.
   */
  readonly middleSeconds: number
  readonly deviationSeconds: number
  /** The simulated time, in seconds. */
  readonly seconds: number
  readonly isolates: number
}

export const NINE_O_CLOCK: MorningPlan = {
  seed: 9,
  users: 100_000,
  middleSeconds: 60 * 60,
  deviationSeconds: 15 * 60,
  seconds: 3 * 3600,
  isolates: 200,
}

/**
 * The requests that a user's operations send to the tenant's object, not counting those for values that isolates cache.
 */
export interface MorningCalls {
  /** Requests per sign-in. */
  readonly signIn: number
  readonly operations: Readonly<Partial<Record<Operation, number>>>
  /** How long isolates cache each value that they read at a sign-in, in seconds. */
  readonly cachedValues: readonly number[]
}

/**
 * The calls before sign-ins were optimised. A sign-in requested the list of providers, the provider at the redirect and
 * at the callback, its keys, and the admission. Each token requested the admission again, and each session and socket
 * requested the agent. The access to the tenant was cached.
 */
export const CALLS_BEFORE: MorningCalls = {
  signIn: 5,
  operations: { firstToken: 1, nextToken: 1, createSession: 1, openSocket: 1, renewSocket: 1, usageBatch: 1 },
  cachedValues: [30],
}

/**
 * The calls now: only the first token of a day requests the admission. The access to the tenant is cached
 * (TOKEN_TRUST_MS), and so are the agent, the list of providers, a provider and its keys (CONFIG_TRUST_MS).
 */
export const CALLS_NOW: MorningCalls = {
  signIn: 0,
  operations: { firstToken: 1, usageBatch: 1 },
  cachedValues: [30, 180, 180, 180, 180],
}

/**
 * Returns the largest number of requests to the tenant's object in a single second. Each user signs in, has one session
 * of the profile and closes the page.
 */
export function simulateMorning(plan: MorningPlan, calls: MorningCalls): number {
  const random = createRandom(plan.seed)
  const requests = new Uint32Array(plan.seconds)
  const signIns = new Uint32Array(plan.seconds)
  const countRequests = (at: number, count: number): void => {
    const second = Math.floor(at)
    if (second < plan.seconds) requests[second] = (requests[second] ?? 0) + count
  }
  const performOperation: Perform = (operation, at) => countRequests(at, calls.operations[operation] ?? 0)
  for (let user = 0; user < plan.users; user++) {
    const drawn = Math.floor(plan.middleSeconds + random.normal() * plan.deviationSeconds)
    const start = Math.min(Math.max(drawn, 0), plan.seconds - 1)
    signIns[start] = (signIns[start] ?? 0) + 1
    countRequests(start, calls.signIn)
    reportUsage(random, simulateSession(random, start, { ...NO_TOKENS }, performOperation), performOperation)
  }
  for (const cacheSeconds of calls.cachedValues)
    addCachedReads(requests, signIns, random, { isolates: plan.isolates, cacheSeconds })
  return maxOf(requests)
}
