/** conversation-styles.ts: the styles of messages with text, loaded with the code that renders them. */

import transcript from "../../client/styles/transcript/transcript.css?inline"
import prose from "../../client/styles/transcript/prose.css?inline"
import type { StyleTexts } from "./widget-styles.ts"

export const CONVERSATION_STYLES: StyleTexts = { transcript, prose }
