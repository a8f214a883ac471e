/**
 * unsent-text.ts: the strings of messages that aren't sent yet. Separate from transcript-text.ts, because they are part
 * of the first view.
 */

import { translate } from "./languages/language.ts"

export const unsentText = translate("unsent", {
  user: "You",
  retry: "Retry",
  discard: "Discard",
  generating: "Generating response",
})
