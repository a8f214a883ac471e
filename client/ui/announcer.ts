/**
 * announcer.ts: what a screen reader is told when an answer ends or waits. Source: SPEC PG17.
 */

import type { Signal } from "@preact/signals"
import type { MessageStatus } from "../../shared/protocol/message.ts"

/** Words that are the same as the last would change nothing on the page, and so be silent: a space tells them apart. */
export function announceAnswerEnd(announcement: Signal<string>, status: MessageStatus, text: string): void {
  const next = formatAnnouncement(status, text)
  announcement.value = next === announcement.peek() ? `${next}\u00a0` : next
}

function formatAnnouncement(status: MessageStatus, text: string): string {
  if (status === "completed") return text
  if (status === "waiting") return "The answer waits for you."
  return status === "cancelled" ? "Stopped." : "The answer did not finish."
}
