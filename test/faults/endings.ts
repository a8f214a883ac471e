/**
 * endings.ts: defines how an answer may end: with the scripted ending, or as the result of a cancel or a kill.
 *
 * text of the question → what the upstream plays → expected ending; an answer that was cut off contains only the
 * beginning of the expected text
 * No answer reaches the time limit of a whole turn, because each fault that hangs has a shorter limit.
 */

import type { Message } from "../../shared/protocol/message.ts"
import type { CountBusyMs } from "./busy-meter.ts"
import { TIME_SCALE } from "./test-session.ts"
import { type Play, playIn } from "./upstream.ts"
import { clipText } from "./violation.ts"

/** Maximum time from recovery to the end of a turn: 30 s, scaled, plus a margin for a busy machine. In milliseconds. */
export const RECOVERED_MS = 30_000 * TIME_SCALE + 2_000

/** Maximum duration of a turn without faults, in milliseconds. The server's own limit for a turn is 24,000. */
export const WORK_MS = 3_000

/**
 * Returns how far past its deadline an answer ended, in milliseconds. The deadline is measured from the start of the
 * answer or from the last restart before its end. Returns 0 if the answer ended in time, waited for an approval, or
 * came from an external producer, which determines the duration. Time during which other work on the machine delayed
 * the server does not count.
 */
export function computeLatenessMs(
  { timestamp, metrics, parts, mode }: Message,
  readyAt: readonly number[],
  countBusyMs: CountBusyMs = () => 0,
): number {
  const hasApproval = parts.some((part) => part.type === "tool_call" && part.call.approval !== null)
  if (metrics === null || hasApproval || mode === "external") return 0
  const began = Date.parse(timestamp)
  const end = began + metrics.ms
  const from = Math.max(began, ...readyAt.filter((at) => at <= end))
  const overdue = Math.round(end - from - RECOVERED_MS - WORK_MS)
  return overdue <= 0 ? 0 : Math.max(0, overdue - Math.round(countBusyMs(from, end)))
}

/** The circumstances that determine how an answer may end. */
export interface Circumstances {
  /** The text of the question. */
  readonly question: string
  /** Number of kills in the run. */
  readonly kills: number
  /** Whether a client requested to cancel this exchange. */
  readonly isCancelRequested: boolean
  /** Whether the context is so small that an answer can exceed it. */
  readonly hasSmallContext: boolean
}

interface Ending {
  readonly reason: string | null
  /** Number of words in the answer; `[first, last]` if there is a tool call between them. */
  readonly words: number | readonly [number, number]
}

/** Returns the expected ending of an answer with this play. */
function expectedEnding(play: Play): Ending {
  switch (play) {
    case "words":
      return { reason: null, words: 60 }
    case "thought":
      return { reason: null, words: 30 }
    case "tools":
    case "effects":
    case "asks":
      return { reason: null, words: [12, 25] }
    case "busy_once":
    case "broken_once":
      return { reason: null, words: 20 }
    case "busy":
    case "busy_retry_after":
      return { reason: "model_rate_limited", words: 0 }
    case "error_in_stream":
      return { reason: "model_rate_limited", words: 15 }
    case "broken":
    case "unavailable_retry_after":
    case "reset_first":
      return { reason: "model_unreachable", words: 0 }
    case "silent":
    case "silent_stream":
      return { reason: "model_timeout", words: 0 }
    case "stall":
      return { reason: "model_timeout", words: 20 }
    case "early_end":
    case "reset":
      return { reason: "model_cut_off", words: 20 }
    case "early_end_call":
      return { reason: "model_cut_off", words: 10 }
    case "malformed":
      return { reason: "model_malformed", words: 15 }
    case "page":
      return { reason: "model_malformed", words: 0 }
  }
}

/** Describes what is wrong with how an answer ended, or returns null if nothing is. */
export function describeWrongEnding(answer: Message, circumstances: Circumstances): string | null {
  const { status, reason } = answer
  const played = playIn(circumstances.question)
  const expected = played === null ? null : expectedEnding(played.play)
  const describeWrong = (what: string): string =>
    `${answer.id}: ${status} ${reason ?? ""} after ${clipText(circumstances.question, 60)}: ${what}`
  // An answer ends as `producer_gone` if its producer stays unreachable for too long.
  if (answer.mode === "external" && status === "interrupted" && reason === "producer_gone") return null
  switch (status) {
    case "queued":
    case "running":
    case "waiting":
      // Another check reports this as a turn that did not end.
      return null
    case "cancelled":
      if (!circumstances.isCancelRequested) return describeWrong("no client requested it")
      break
    case "interrupted":
      if (reason !== "process_restart" || circumstances.kills === 0)
        return describeWrong("interrupted, but not by a kill")
      break
    case "completed":
      if (expected !== null && expected.reason !== null)
        return describeWrong(`should have failed with ${expected.reason}`)
      break
    case "failed":
      if (reason === "context_exceeded" && circumstances.hasSmallContext) return null
      if (expected === null || expected.reason !== reason)
        return describeWrong(`wanted ${expected?.reason ?? "completed"}`)
  }
  if (played === null || expected === null) return null
  const isCut = status === "cancelled" || status === "interrupted"
  const text = answer.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")
  return hasExpectedText(text, played.tag, expected, isCut) ? null : describeWrong(`it holds ${clipText(text, 120)}`)
}

function hasExpectedText(text: string, tag: string, { words, reason }: Ending, isCut: boolean): boolean {
  if (typeof words !== "number") {
    const [first, last] = words.map((count) => expectedText(tag, count))
    if (first === undefined || last === undefined) return false
    if (isCut) return first.startsWith(text) || text.startsWith(first)
    return text.startsWith(first) && text.endsWith(last)
  }
  const whole = expectedText(tag, words)
  // When a connection is reset, the bytes in flight are lost.
  if (isCut || (reason === "model_cut_off" && words === 20)) return whole.startsWith(text)
  return text === whole
}

function expectedText(tag: string, words: number): string {
  return Array.from({ length: words }, (_, at) => `${tag}-${at} `).join("")
}
