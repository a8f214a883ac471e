/** excerpt.ts: the beginning of some text, with an ellipsis if anything was cut off. Pure. */

import { cutText } from "../../../shared/text/cut-text.ts"

/** Returns at most `maxChars` UTF-16 code units, plus the ellipsis. */
export function toExcerpt(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${cutText(text, maxChars).trimEnd()}…`
}
