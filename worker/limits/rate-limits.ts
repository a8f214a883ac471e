/**
 * rate-limits.ts: limits the requests of users and tenants with the platform's rate limiting bindings.
 *
 * The platform counts per location and with some delay, so these limits only stop floods. The objects keep the counts
 * that must be exact.
 */

import { type Fault, fail, type Result, succeed } from "../../shared/fault.ts"
import { RATE_PERIOD_SECONDS, type RateClass } from "../../shared/user-limits.ts"
import type { RateBindings } from "../env.ts"
import { describeError, logError } from "../platform/log.ts"
import type { SessionOwner } from "../platform/rpc/claims.ts"
import { userKey } from "../platform/rpc/object-stubs.ts"
import { withTimeout } from "../platform/timeout.ts"

/**
 * How long to wait for a binding's response, in milliseconds. After that, the call is treated as failed. A working
 * binding responds without using the network.
 */
const BINDING_MS = 1_000

const BINDINGS = {
  write: { user: "RATE_WRITE", tenant: "RATE_WRITE_TENANT" },
  read: { user: "RATE_READ", tenant: "RATE_READ_TENANT" },
  socket: { user: "RATE_SOCKET", tenant: "RATE_SOCKET_TENANT" },
} as const satisfies Record<RateClass, Record<"user" | "tenant", keyof RateBindings>>

/**
 * Counts a user's request, and admits or refuses it. A request that exceeds the user's limit does not count towards the
 * tenant's limit, because one user could otherwise block all others. Errors: `rate_limited`. Never throws.
 */
export async function checkRate(env: RateBindings, rateClass: RateClass, who: SessionOwner): Promise<Result<null>> {
  const { user, tenant } = BINDINGS[rateClass]
  if (!(await countUp(env[user], `${rateClass}:${userKey(who)}`))) return fail(createRateFault(rateClass, "user"))
  if (!(await countUp(env[tenant], `${rateClass}:${who.tenant}`))) return fail(createRateFault(rateClass, "tenant"))
  return succeed(null)
}

/** Like `checkRate`, but only for the user. */
export async function isUserWithinRate(env: RateBindings, rateClass: RateClass, who: SessionOwner): Promise<boolean> {
  return await countUp(env[BINDINGS[rateClass].user], `${rateClass}:${userKey(who)}`)
}

export function createRateFault(rateClass: RateClass, per: "user" | "tenant"): Fault {
  return { reason: "rate_limited", rateClass, per, retryAfterSeconds: RATE_PERIOD_SECONDS }
}

/**
 * Counts one request for the key. Returns false if that exceeds the limit. If the binding fails, the failure is logged
 * and the request is admitted.
 */
export async function countUp(binding: RateLimit | undefined, key: string): Promise<boolean> {
  if (binding === undefined) return true
  try {
    const counted = withTimeout(binding.limit({ key }), BINDING_MS, () => new Error("no response"))
    return (await counted).success
  } catch (error) {
    logError("rate_limit_failed", { error: describeError(error) })
    return true
  }
}
