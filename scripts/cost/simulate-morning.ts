/**
 * simulate-morning.ts: the users of one tenant sign in at nine, and what its object is asked in each second. Pure and seeded.
 */

import { createRandom } from "./random.ts"
import { PROFILE } from "./usage-profile.ts"

export interface MorningPlan {
  readonly seed: number
  readonly users: number
  /** The time of the most sign-ins, and their standard deviation, in seconds from the beginning of the simulation. */
  readonly middleSeconds: number
  readonly deviationSeconds: number
  /** How long is simulated, in seconds. */
  readonly seconds: number
  readonly isolates: number
  readonly cacheSeconds: number
}

export const NINE_O_CLOCK: MorningPlan = {
  seed: 9,
  users: 100_000,
  middleSeconds: 60 * 60,
  deviationSeconds: 15 * 60,
  seconds: 3 * 3600,
  isolates: 200,
  cacheSeconds: 30,
}

/** What one user's sign-in and renewals ask of the tenant's object. */
export interface MorningCalls {
  /** By the sign-in, the first token, a new session and its socket. */
  readonly signIn: number
  /** By each renewal of the token and of the socket. */
  readonly renewal: number
  /** After how many seconds a renewal asks again; in between it asks nothing. */
  readonly renewalSeconds: number
  /** Values that each isolate reads and caches. */
  readonly cachedValues: number
}

/**
 * Before: the list of providers, the provider at the redirect and at the callback, its keys, the admission at the callback and
 * with the token, and the agent for the session and for the socket; with each renewal the admission and the agent.
 */
export const CALLS_BEFORE: MorningCalls = {
  signIn: 8,
  renewal: 2,
  renewalSeconds: PROFILE.tokenSeconds,
  cachedValues: 1,
}

/** Now: the admission with the token, and again after 30 minutes. The rest is cached. */
export const CALLS_NOW: MorningCalls = {
  signIn: 1,
  renewal: 1,
  renewalSeconds: PROFILE.admissionSeconds,
  cachedValues: 5,
}

/** The largest number of requests of the tenant's object in one second, averaged over ten. */
export function simulateMorning(plan: MorningPlan, calls: MorningCalls): number {
  const random = createRandom(plan.seed)
  const requests = new Float64Array(plan.seconds)
  const arrivals = new Uint32Array(plan.seconds)
  for (let user = 0; user < plan.users; user++) {
    const drawn = Math.floor(plan.middleSeconds + random.normal() * plan.deviationSeconds)
    const start = Math.min(Math.max(drawn, 0), plan.seconds - 1)
    arrivals[start] = (arrivals[start] ?? 0) + 1
    requests[start] = (requests[start] ?? 0) + calls.signIn
    for (let at = start + calls.renewalSeconds; at < plan.seconds; at += calls.renewalSeconds)
      requests[at] = (requests[at] ?? 0) + calls.renewal
  }
  for (let value = 0; value < calls.cachedValues; value++) {
    const askedAt = new Float64Array(plan.isolates).fill(-Infinity)
    for (let second = 0; second < plan.seconds; second++) {
      for (let n = arrivals[second] ?? 0; n > 0; n--) {
        const isolate = random.below(plan.isolates)
        if (second - (askedAt[isolate] ?? 0) < plan.cacheSeconds) continue
        askedAt[isolate] = second
        requests[second] = (requests[second] ?? 0) + 1
      }
    }
  }
  return maxOfTenSeconds(requests)
}

function maxOfTenSeconds(requests: Float64Array): number {
  let [max, sum] = [0, 0]
  requests.forEach((count, second) => {
    sum += count - (second >= 10 ? (requests[second - 10] ?? 0) : 0)
    max = Math.max(max, sum / 10)
  })
  return max
}
