/** fault-response.ts: faults and errors as HTTP responses. */

import { type Fault, faultToWire } from "../../shared/fault.ts"
import { logError } from "./log.ts"

/** The response for a fault: its status, and its code and text as JSON. */
export function faultToResponse(fault: Fault): Response {
  const { code, text, status } = faultToWire(fault)
  return Response.json({ code, text }, { status })
}

interface RequestContext {
  readonly req: { readonly method: string; readonly path: string }
}

/** The response for an exception. It is a bug: the log gets the details, the client gets none. */
export function errorToResponse({ message, stack }: Error, { req: { method, path } }: RequestContext): Response {
  logError("route_error", { method, path, message, stack })
  return faultToResponse({ reason: "internal" })
}
