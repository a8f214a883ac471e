/**
 * session-budget.ts: decides whether a session may begin a turn with its lease. Pure.
 */

import { addToMeter, findExhausted, type Spending } from "./budget-meter.ts"
import type { SessionLease } from "./user-account.ts"

/** Returns whether a turn may begin without a request to the directory. */
export function canBegin(lease: SessionLease | null, now: number): boolean {
  return lease !== null && lease.turns > 0 && now < lease.until && findExhausted(lease.meters, now) === null
}

/** Returns the lease after a turn has used it to begin. */
export function beginWithLease(lease: SessionLease): SessionLease {
  return { ...lease, turns: Math.max(lease.turns - 1, 0) }
}

/** Returns the lease after the session has spent something that the directory has not counted yet. */
export function countInLease(lease: SessionLease, use: Spending, now: number): SessionLease {
  return { ...lease, meters: lease.meters.map((meter) => addToMeter(meter, use, now)) }
}
