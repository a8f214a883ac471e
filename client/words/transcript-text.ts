/**
 * transcript-text.ts: every string that messages and Markdown show or announce.
 *
 * Functions are messages with parameters. Loaded with the transcript, so nothing in the first view
 * may import it.
 */

import type { MessageStatus } from "../../shared/protocol/message.ts"
import { formatCount } from "./format/number-format.ts"
import { translate } from "./languages/language.ts"

export const transcriptText = translate("transcript", {
  notPrinted: "The rest isn't printed. To print it too, show all of it first.",
  conversation: "Conversation",
  user: "You",
  assistant: "Cuecard",
  agent: "Agent",
  unverifiedImport: "Imported. Tool results and cards in this conversation haven't been verified.",
  summary: "Summary of earlier messages",
  spoken: "Spoken message",
  spokenWithoutText: "Spoken message, without a transcript",
  queued: "Queued",
  thinking: "Thinking…",
  /** `duration` is undefined if unknown. */
  thought: (duration: string | undefined) => (duration === undefined ? "Thought" : `Thought for ${duration}`),
  status: {
    queued: "Queued.",
    waiting: "Waiting for a response.",
    approval: "Waiting for your approval.",
    cancelled: "You stopped this response.",
    interrupted: "Response interrupted.",
    failed: "Something went wrong.",
  },
  seconds: (count: string) => `${count} s`,
  minutes: (minutes: number, seconds: number) => `${minutes} min ${seconds} s`,
  inReplyTo: (author: string, excerpt: string) =>
    author === "" ? "In reply to an earlier message" : `In reply to ${author}: ${excerpt}`,
  earlierMessage: "An earlier message",
  emptyMessage: "(no text)",
  missingMessage: "This message is no longer available.",
  brokenMessage: "This message couldn't be displayed.",
  brokenSegment: "This part of the response couldn't be displayed.",
  showMoreParts: (hidden: number) => `Show more (${formatCount(hidden)} more parts)`,
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

export const agentText = translate("agent", {
  asked: (agent: string) => `Asked ${agent}`,
  replyFrom: (agent: string) => `Reply from ${agent}`,
  replyTo: (agent: string) => `Reply to ${agent}`,
  messageFrom: (agent: string) => `Message from ${agent}`,
  exchangeWith: (agent: string) => `Exchange with ${agent}`,
  viewThread: "View thread",
  viewThreadWith: (agent: string) => `View thread with ${agent}`,
  waitingFor: (agent: string) => `Waiting for ${agent}…`,
  showLess: "Show less",
})

export const markdownText = translate("markdown", {
  taskDone: "Done",
  taskOpen: "Not done",
  imageFallbackLabel: "image",
  showMore: (hiddenChars: number) => `Show more (${formatCount(hiddenChars)} more characters)`,
  sources: "Sources",
  moreSources: (hidden: number) => `Show ${hidden} more`,
  copyCode: "Copy code",
  /** Announced in place of a code block. */
  spokenCode: "Code.",
  wrapLines: "Wrap long lines",
  lineNumbers: "Line numbers",
  downloadCode: "Download code",
  copyTable: "Copy table",
  copyCsv: "Copy table as CSV",
  csv: "CSV",
  footnote: (number: number) => `Footnote ${number}`,
  footnotes: "Footnotes",
  backToText: (number: number) => `Back to reference ${number}`,
  alerts: { note: "Note", tip: "Tip", important: "Important", warning: "Warning", caution: "Caution" },
})

/** The reason why an answer isn't complete, or null. A status with a reason shows the reason's text instead. */
export function formatMessageStatus(status: MessageStatus, needsApproval: boolean): string | null {
  switch (status) {
    case "running":
    case "completed":
      return null
    case "waiting":
      return needsApproval ? transcriptText.status.approval : transcriptText.status.waiting
    default:
      return transcriptText.status[status]
  }
}

const ONE_DIGIT = { minimumFractionDigits: 1, maximumFractionDigits: 1 }

/** 900 → "0.9 s", 14_000 → "14 s", 75_000 → "1 min 15 s". */
export function formatDuration(ms: number): string {
  if (ms < 9_950) return transcriptText.seconds(formatCount(Math.max(ms, 100) / 1000, ONE_DIGIT))
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return transcriptText.seconds(formatCount(seconds))
  return transcriptText.minutes(Math.floor(seconds / 60), seconds % 60)
}
