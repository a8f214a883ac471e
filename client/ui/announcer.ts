/** announcer.ts: what screen readers announce while an answer is written, and when it ends. Source: SPEC PG17. */

import { type Signal, signal } from "@preact/signals"
import type { MessageStatus } from "../../shared/protocol/message.ts"
import { announcementText } from "../words/page-text.ts"

/** The text of the one live region. */
export const announcement: Signal<string> = signal("")

/** Announces a text. Adds a no-break space to a repeated one, which screen readers would skip otherwise. */
export function announce(text: string): void {
  announcement.value = text === announcement.peek() ? `${text}\u00a0` : text
}

/** `text`: the finished answer. An answer that waits for approval has not ended (client/transcript/calls/tool-announcer.ts). */
export function announceAnswerEnd(status: MessageStatus, text: string): void {
  if (status === "completed") announce(text)
  else if (status !== "waiting")
    announce(status === "cancelled" ? announcementText.stopped : announcementText.unfinished)
}
