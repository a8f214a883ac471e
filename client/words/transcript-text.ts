/**
 * transcript-text.ts: every string that messages, media, Markdown and cards show or announce.
 *
 * Functions are messages with parameters. Loaded with the transcript, so nothing in the first view
 * may import it.
 */

import type { CallStatus, MessageStatus } from "../../shared/protocol/message.ts"
import { formatClock, formatSize } from "./media-descriptions.ts"
import { mediaKindText } from "./page-text.ts"
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

/** The size of a text of which only a part is shown; 0 if unknown. */
export function formatTruncation(lines: number, bytes: number, isSettled: boolean): string {
  const size = bytes > 0 ? formatSize(bytes) : ""
  const whole = lines > 0 ? toolText.lines(lines, size) : size
  if (whole === "") return toolText.onlyPart
  return isSettled ? toolText.partOf(whole) : toolText.partSoFar(whole)
}

export const toolText = translate("tool", {
  arguments: "Arguments",
  output: "Output",
  result: "Result",
  allowed: "Allowed",
  denied: "Denied",
  needsApproval: "Needs approval",
  status: {
    queued: "Queued",
    running: "Running",
    waiting: "Waiting",
    ok: "Done",
    failed: "Failed",
    interrupted: "Interrupted",
  } satisfies Record<CallStatus, string>,
  /** At least two calls. */
  calls: (count: number, failed: number) => `${count} tool calls${failed === 0 ? "" : ` · ${failed} failed`}`,
  onlyPart: "Showing only a part.",
  /** `whole`: the lines, the size, or both. */
  partOf: (whole: string) => `Showing part of ${whole}.`,
  partSoFar: (whole: string) => `Showing part of ${whole} so far.`,
  /** `size` is empty if unknown. */
  lines: (count: number, size: string) => `${formatCount(count)} lines${size === "" ? "" : ` (${size})`}`,
  showAll: (chars: number) => `Show all (${formatCount(chars)} more characters)`,
  approvalLabel: (tool: string) => `Allow ${tool}?`,
  approvalQuestion: (tool: string) => `Allow Cuecard to run ${tool}?`,
  allow: "Allow",
  allowing: "Allowing…",
  deny: "Deny",
  denying: "Denying…",
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

export const mediaText = translate("media", {
  /** "Image: chart.png" */
  named: (kind: string, label: string) => `${kind}: ${label}`,
  fromHost: (kind: string, host: string) => (host === "" ? kind : `${kind} from ${host}`),
  document: mediaKindText.canvas,
  load: "Load",
  tryAgain: "Try again",
  openInNewTab: "Open in new tab",
  download: "Download",
  downloadFile: (details: readonly string[]) => `Download ${details.join(", ")}`,
  hostOfFile: (host: string) => `from ${host}`,
  play: "Play",
  pause: "Pause",
  seek: "Seek",
  /** A length in seconds; 0 if unknown. */
  position: (time: number, length: number) =>
    length > 0 ? `${formatClock(time)} of ${formatClock(length)}` : formatClock(time),
  close: "Close",
  previousImage: "Previous image",
  nextImage: "Next image",
  imageOf: (position: number, count: number) => `${position} of ${count}`,
  imageFallbackLabel: "image",
  fullScreen: "Full screen",
  onAnotherSite: "This content is on another site.",
  capturedTyping: "Paused because it was capturing your typing.",
  floodedPage: "Paused because it was sending too many messages.",
  resume: "Resume",
  unsupported: "Your browser can't open this file.",
})

export const markdownText = translate("markdown", {
  taskDone: "Done",
  taskOpen: "Not done",
  showMore: (hiddenChars: number) => `Show more (${formatCount(hiddenChars)} more characters)`,
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

export const cardText = translate("card", {
  weatherIn: (location: string) => `Weather in ${location}`,
  sampleData: "Sample data",
  feelsLike: (degrees: string) => `Feels like ${degrees}`,
  humidity: "Humidity",
  wind: "Wind",
  /** No-break spaces keep the figure on one line. */
  windOf: (speed: number, direction: string) => `${speed}\u00a0km/h\u00a0${direction}`,
  precipitation: "Chance of precipitation",
  tomorrow: "Tomorrow",
  showUnit: (unit: "C" | "F") => `Show temperatures in °${unit}`,
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

export function formatCallStatus(status: CallStatus, needsApproval = false): string {
  return status === "waiting" && needsApproval ? toolText.needsApproval : toolText.status[status]
}

const ONE_DIGIT = { minimumFractionDigits: 1, maximumFractionDigits: 1 }

/** 900 → "0.9 s", 14_000 → "14 s", 75_000 → "1 min 15 s". */
export function formatDuration(ms: number): string {
  if (ms < 9_950) return transcriptText.seconds(formatCount(Math.max(ms, 100) / 1000, ONE_DIGIT))
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return transcriptText.seconds(formatCount(seconds))
  return transcriptText.minutes(Math.floor(seconds / 60), seconds % 60)
}
