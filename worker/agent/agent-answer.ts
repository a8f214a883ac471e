/**
 * agent-answer.ts: the answer that a session returns to the agent that asked it.
 */

import { MAX_AGENT_ANSWER_CHARS } from "../../shared/limits.ts"
import { isEnded, type Message } from "../../shared/protocol/message.ts"
import { stripDirectives } from "../../shared/segment/strip-directives.ts"
import { cutTextWithNote } from "../../shared/text/cut-text.ts"
import type { SessionStore } from "../store/session-store.ts"
import type { AskAnswer } from "../platform/rpc/session-types.ts"

/** Returns the answer to a question; null while the turn for the question is queued or running. */
export function findAnswer(store: SessionStore, id: string): AskAnswer | null {
  const question = store.findById(id)
  if (question === null) return createFailedAnswer("This session does not have that question.")
  if (question.pos === null) return question.isWithdrawn ? createFailedAnswer("The question was withdrawn.") : null
  const answer = store.findMessageAt(store.findNewestVersion(question.pos) ?? question.pos + 1)?.message
  if (answer?.exchange_id !== id || !isEnded(answer.status)) return null
  return messageToAnswer(answer)
}

/**
 * Returns the text of an answer without spans and directives (SPEC AG7, AG12). If the answer isn't completed, returns a
 * failure whose details contain its status and its text so far.
 */
export function messageToAnswer({ parts, status, reason }: Message): AskAnswer {
  const texts = parts.flatMap((part) => (part.type === "text" ? [stripDirectives(part.text, part.grants)] : []))
  const joined = texts.filter((text) => text !== "").join("\n\n")
  const text = cutTextWithNote(joined.trim(), MAX_AGENT_ANSWER_CHARS)
  if (status === "completed") return { ok: true, text }
  const cause = status === "failed" ? ` (${reason ?? "internal"})` : ""
  return createFailedAnswer(
    `Its answer ended with status ${status}${cause}.${text === "" ? "" : ` Its text so far: ${text}`}`,
  )
}

export function createFailedAnswer(details: string): AskAnswer {
  return { ok: false, details }
}
