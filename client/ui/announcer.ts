/** announcer.ts: what screen readers announce when an answer ends or waits for the user. Source: SPEC PG17. */

import type { Signal } from "@preact/signals"
import type { MessageStatus } from "../../shared/protocol/message.ts"
import { announcementText } from "../words/page-text.ts"

/** Announces the end of an answer. Adds a no-break space to a repeated text, which screen readers would skip otherwise. */
export function announceAnswerEnd(announcement: Signal<string>, status: MessageStatus, text: string): void {
  const next = formatAnnouncement(status, text)
  announcement.value = next === announcement.peek() ? `${next}\u00a0` : next
}

function formatAnnouncement(status: MessageStatus, text: string): string {
  if (status === "completed") return text
  if (status === "waiting") return announcementText.waiting
  return status === "cancelled" ? announcementText.stopped : announcementText.unfinished
}
