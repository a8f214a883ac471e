/** message-text.ts: the strings of messages' buttons, notes and quotes, which are loaded after the transcript. */

import type { MessageStatus } from "../../../shared/protocol/message.ts"
import { translate } from "../languages/language.ts"

export const messageText = translate("transcript", {
  user: "You",
  queued: "Queued",
  status: {
    queued: "Queued.",
    waiting: "Waiting for a response.",
    approval: "Waiting for your approval.",
    input: "Waiting for your answer.",
    cancelled: "You stopped this response.",
    interrupted: "Response interrupted.",
    failed: "Something went wrong.",
  },
  inReplyTo: (author: string, excerpt: string) =>
    author === "" ? "In reply to an earlier message" : `In reply to ${author}: ${excerpt}`,
  earlierMessage: "An earlier message",
  emptyMessage: "(no text)",
  missingMessage: "This message is no longer available.",
})

export const actionText = translate("action", {
  copy: "Copy",
  copied: "Copied",
  copyFailed: "Couldn't copy",
  copyTrace: "Copy trace ID",
  edit: "Edit",
  reply: "Reply",
  regenerate: "Regenerate",
  more: "More",
  continue: "Continue",
  tryAgain: "Try again",
  cancel: "Cancel",
  cancelling: "Cancelling…",
  save: "Save",
  saving: "Saving…",
  editField: "Edit message",
  tooLong: (maxBytes: number) => `Messages can be up to ${maxBytes / 1024} KB.`,
  version: (version: number, versions: number) => `Version ${version} of ${versions}`,
  previousVersion: "Previous version",
  nextVersion: "Next version",
})

/** What a waiting call needs from the user; null if it is waiting for someone else. */
export type UserNeed = "approval" | "input" | null

/** Returns why an answer isn't complete; null if it is. A status that has a reason shows the reason's text instead. */
export function formatMessageStatus(status: MessageStatus, need: UserNeed): string | null {
  switch (status) {
    case "running":
    case "completed":
      return null
    case "waiting":
      return messageText.status[need ?? "waiting"]
    default:
      return messageText.status[status]
  }
}
