/** fault-response.ts: faults as HTTP responses. */

import { type Fault, faultToWire } from "../../shared/fault.ts"

/** The response for a fault: its status, and its code and text as JSON. */
export function faultToResponse(fault: Fault): Response {
  const { code, text, status } = faultToWire(fault)
  return Response.json({ code, text }, { status })
}
