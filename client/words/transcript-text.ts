/**
 * transcript-text.ts: the strings that messages and Markdown show as soon as they are drawn.
 *
 * Functions are messages with parameters. Loaded with the transcript, so no module of the initial load may import this
 * one.
 */

import { formatCount } from "./format/number-format.ts"
import { translate } from "./languages/language.ts"

export const transcriptText = translate("transcript", {
  notPrinted: "The rest isn't printed. To print it too, show all of it first.",
  conversation: "Conversation",
  assistant: "Cuecard",
  agent: "Agent",
  unverifiedImport: "Imported. Tool results and cards in this conversation haven't been verified.",
  summary: "Summary of earlier messages",
  spoken: "Spoken message",
  spokenWithoutText: "Spoken message, without a transcript",
  thinking: "Thinking…",
  /** `duration` is undefined if unknown. */
  thought: (duration: string | undefined) => (duration === undefined ? "Thought" : `Thought for ${duration}`),
  seconds: (count: string) => `${count} s`,
  minutes: (minutes: number, seconds: number) => `${minutes} min ${seconds} s`,
  brokenMessage: "This message couldn't be displayed.",
  brokenSegment: "This part of the response couldn't be displayed.",
  showMoreParts: (hidden: number) => `Show more (${formatCount(hidden)} more parts)`,
})

export const exchangeText = translate("agent", {
  exchangeWith: (agent: string) => `Exchange with ${agent}`,
})

export const markdownText = translate("markdown", {
  taskDone: "Done",
  taskOpen: "Not done",
  imageFallbackLabel: "image",
  showMore: (hiddenChars: number) => `Show more (${formatCount(hiddenChars)} more characters)`,
  footnote: (number: number) => `Footnote ${number}`,
})

const ONE_DIGIT = { minimumFractionDigits: 1, maximumFractionDigits: 1 }

/** 900 → "0.9 s", 14_000 → "14 s", 75_000 → "1 min 15 s". */
export function formatDuration(ms: number): string {
  if (ms < 9_950) return transcriptText.seconds(formatCount(Math.max(ms, 100) / 1000, ONE_DIGIT))
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return transcriptText.seconds(formatCount(seconds))
  return transcriptText.minutes(Math.floor(seconds / 60), seconds % 60)
}
