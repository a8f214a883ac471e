/** fault-response.ts: faults as HTTP responses. */

import { type Fault, faultToWire } from "../../shared/fault.ts"
import { RATE_LIMITS, RATE_PERIOD_SECONDS } from "../../shared/user-limits.ts"

/**
 * Returns the response for a fault: its status, and its code and text as JSON. For a temporary limit, the response also
 * has `Retry-After` (SPEC LI2).
 */
export function faultToResponse(fault: Fault): Response {
  const { code, text, fields, status } = faultToWire(fault)
  // Lets programs read which budget is exhausted.
  const details = code === "budget_exhausted" ? fields : {}
  return Response.json({ code, text, fields, ...details }, { status, headers: createRetryHeaders(fault) })
}

/** Creates `RateLimit` and `RateLimit-Policy` as in draft-ietf-httpapi-ratelimit-headers. */
function createRetryHeaders(fault: Fault): Record<string, string> {
  if (!("retryAfterSeconds" in fault)) return {}
  const { retryAfterSeconds } = fault
  const retryAfter = { "retry-after": String(retryAfterSeconds) }
  if (fault.reason !== "rate_limited") return retryAfter
  const { rateClass, per } = fault
  const name = `"${rateClass}-per-${per}"`
  return {
    ...retryAfter,
    ratelimit: `${name};r=0;t=${retryAfterSeconds}`,
    "ratelimit-policy": `${name};q=${RATE_LIMITS[rateClass][per]};w=${RATE_PERIOD_SECONDS}`,
  }
}
