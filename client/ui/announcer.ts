/**
 * announcer.ts: controls what screen readers announce while an answer is being written and when it ends. Source: SPEC
 * PG17.
 */

import { type Signal, signal } from "@preact/signals"
import type { MessageStatus } from "../../shared/protocol/message.ts"
import { announcementText } from "../words/page-text.ts"

/** The text of the page's only live region. */
export const announcement: Signal<string> = signal("")

/** Announces text. Adds a no-break space if the text is repeated, because screen readers would otherwise skip it. */
export function announce(text: string): void {
  announcement.value = text === announcement.peek() ? `${text}\u00a0` : text
}

/**
 * Announces that an answer has ended. `text` is the finished answer. An answer that is waiting for approval hasn't
 * ended (client/transcript/calls/tool-announcer.ts).
 */
export function announceAnswerEnd(status: MessageStatus, text: string): void {
  if (status === "completed") announce(text)
  else if (status !== "waiting")
    announce(status === "cancelled" ? announcementText.stopped : announcementText.unfinished)
}
