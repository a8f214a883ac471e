/** conversation-styles.ts: the styles of messages with text, loaded with the code that renders them. */

import transcript from "../../client/styles/transcript/transcript.css?inline"
import acts from "../../client/styles/transcript/acts.css?inline"
import prose from "../../client/styles/transcript/prose.css?inline"
import rightToLeft from "../../client/styles/right-to-left.css?inline"
import forcedColors from "../../client/styles/print-forced-colors.css?inline"
import type { StyleTexts } from "./widget-styles.ts"

export const CONVERSATION_STYLES: StyleTexts = {
  transcript,
  acts,
  prose,
  rightToLeft,
  forcedColors,
}
