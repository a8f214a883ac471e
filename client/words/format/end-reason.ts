/**
 * end-reason.ts: the text for the reason why a response failed.
 *
 * The server sends a fault's name; the text comes from the catalogue in shared/fault.ts.
 */

import { isTurnFault, type TurnFault, turnFaultToText } from "../../../shared/fault.ts"
import { translate } from "../languages/language.ts"

/** The translated messages. Empty for English, because the English messages are in the catalogue. */
export const endReasonText = translate<Partial<Record<TurnFault, string>>>("endReason", {})

/**
 * Returns the fault's text in the page's language. If this version of the page doesn't know the name, returns it
 * unchanged.
 */
export function describeEndReason(reason: string): string {
  return isTurnFault(reason) ? (endReasonText[reason] ?? turnFaultToText(reason)) : reason
}
