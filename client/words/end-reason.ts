/**
 * end-reason.ts: the text for the reason why a response failed.
 *
 * The server sends a fault's name; the text comes from the catalogue in shared/fault.ts.
 */

import { isTurnFault, turnFaultToText } from "../../shared/fault.ts"

/** The catalogue's text. A name that this version of the page doesn't have is returned unchanged. */
export function describeEndReason(reason: string): string {
  return isTurnFault(reason) ? turnFaultToText(reason) : reason
}
