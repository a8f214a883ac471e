/**
 * end-reason.ts: why an answer did not end well, in a reader's words.
 *
 * The server says the fault's name; its sentence stands in the one catalogue (shared/fault.ts).
 */

import { type TurnFault, turnFaultToText } from "../../shared/fault.ts"

/** The catalogue's sentence; a name that this page does not know is shown as it is. */
export function describeEndReason(reason: string): string {
  // The catalogue's switch has no default: an unknown name falls through it.
  return (turnFaultToText(reason as TurnFault) as string | undefined) ?? reason
}
