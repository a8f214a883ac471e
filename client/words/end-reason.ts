/**
 * end-reason.ts: the text for the reason why a response failed.
 *
 * The server sends a fault's name; the text comes from the catalogue in shared/fault.ts.
 */

import { type TurnFault, turnFaultToText } from "../../shared/fault.ts"

/** The catalogue's text. A name that this version of the page doesn't have is returned as it is. */
export function describeEndReason(reason: string): string {
  // The catalogue's switch has no default, so it returns undefined for an unknown name.
  return (turnFaultToText(reason as TurnFault) as string | undefined) ?? reason
}
