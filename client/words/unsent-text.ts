/**
 * unsent-text.ts: the strings of messages that aren't sent yet. Separate from transcript-text.ts, because these strings
 * are part of the initial load.
 */

import { translate } from "./languages/language.ts"

export const unsentText = translate("unsent", {
  user: "You",
  retry: "Retry",
  discard: "Discard",
  generating: "Generating response",
})
