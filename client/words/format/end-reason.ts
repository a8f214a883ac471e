/**
 * end-reason.ts: the text for the reason why a response failed.
 *
 * The server sends a fault's name; the text comes from the catalogue in shared/fault.ts.
 */

import { isTurnFault, type TurnFault, turnFaultToText } from "../../../shared/fault.ts"
import { translate } from "../languages/language.ts"

/** Empty in English, whose texts are in the catalogue. */
export const endReasonText = translate<Partial<Record<TurnFault, string>>>("endReason", {})

/**
 * Returns the catalogue's text in the language of the page. A name that this version of the page doesn't have is
 * returned unchanged.
 */
export function describeEndReason(reason: string): string {
  return isTurnFault(reason) ? (endReasonText[reason] ?? turnFaultToText(reason)) : reason
}
