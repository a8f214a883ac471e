/**
 * failed-sign-ins.ts: refuses sign-ins to a tenant from an IP address that has failed too often.
 *
 * Only failures are counted, so an address from which every sign-in succeeds is never refused. The isolate remembers a
 * refusal. Another isolate learns of the refusal on the next failure from that address.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import { SIGN_IN_PERIOD_SECONDS } from "../../shared/user-limits.ts"
import type { RateBindings } from "../env.ts"
import { FreshCache } from "../platform/fresh-cache.ts"
import { countUp } from "./rate-limits.ts"

/** An attempt to sign in. The address is null if the platform provides none, as on a developer's machine. */
export interface SignInAttempt {
  readonly tenant: string
  /** An IPv4 address or an IPv6 network (routes/access/client-address.ts). It is not stored. */
  readonly address: string | null
}

/** Maximum number of refused addresses that an isolate remembers. */
const MAX_REFUSED_ADDRESSES = 5_000

const refused = new FreshCache<true>(SIGN_IN_PERIOD_SECONDS * 1000, MAX_REFUSED_ADDRESSES)

/** Checks whether the address may try to sign in. Makes no request. Errors: `sign_ins_limited`. */
export function checkSignIn(attempt: SignInAttempt, now: number): Result<null> {
  if (refused.get(toKey(attempt), now) === undefined) return succeed(null)
  return fail({ reason: "sign_ins_limited", retryAfterSeconds: SIGN_IN_PERIOD_SECONDS })
}

/** Counts a failed attempt. Never throws. */
export async function countFailedSignIn(env: RateBindings, attempt: SignInAttempt, now: number): Promise<void> {
  if (!(await countUp(env.RATE_SIGN_IN, `sign-in:${toKey(attempt)}`))) refused.set(toKey(attempt), true, now)
}

function toKey({ tenant, address }: SignInAttempt): string {
  return `${tenant}:${address ?? "unknown"}`
}
