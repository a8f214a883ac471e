/** rate-wait-text.ts: the strings that are shown while the server is rate limiting the page. Pure. */

import { formatSeconds } from "./format/plural.ts"
import { translate } from "./languages/language.ts"

export const rateWaitText = translate("rateWait", {
  /** `reason`: the server's message. */
  waiting: (reason: string) => `${reason} Nothing is lost. We'll continue automatically.`.trim(),
  /** For too many requests. `seconds`: about how long the page waits. */
  limited: (seconds: number) =>
    `Too many requests at once. Nothing is lost. We'll continue automatically in about ${formatSeconds(seconds)}.`,
})
