/** session-feedback.ts: the owner's feedback on the answers of a session. Source: SPEC WR10 to WR12. */

import { fail, type Result, succeed } from "../../../shared/fault.ts"
import type { AnswerFeedback, Feedback, FeedbackInput } from "../../../shared/protocol/writing/feedback.ts"
import { isEnded } from "../../../shared/protocol/message.ts"
import { removeControls } from "../../../shared/text/title.ts"
import type { FeedbackChange } from "../../platform/rpc/session-types.ts"
import type { SessionStore } from "../../store/session-store.ts"
import type { LiveSession } from "../live-session.ts"

/** Maximum number of answers whose feedback is listed: more than a user rates in one conversation. */
const MAX_FEEDBACK_LISTED = 2_000

/**
 * Sets or removes the feedback on an answer that has ended, in any version. Errors: `message_unknown`; `field_invalid`
 * if the message isn't an answer or hasn't ended.
 */
export function setFeedback(
  { store, agentName }: LiveSession,
  id: string,
  input: FeedbackInput | null,
  nowMs: number,
): Result<FeedbackChange> {
  const pos = store.findById(id)?.pos ?? null
  const message = pos === null ? undefined : store.findMessageAt(pos)?.message
  if (pos === null || message === undefined) return fail({ reason: "message_unknown" })
  if (message.role !== "assistant" || !isEnded(message.status))
    return fail({ reason: "field_invalid", field: "message" })
  const before = message.feedback ?? null
  const after = input === null ? null : inputToFeedback(input, nowMs)
  store.feedback.set(pos, after)
  // Feedback that came with an imported file was never counted.
  const isCounted = message.origin !== "import"
  return succeed({ agent: agentName(), before, after, isCounted })
}

function inputToFeedback({ rating, reason, note }: FeedbackInput, nowMs: number): Feedback {
  return { rating, reason, note: removeControls(note).trim(), at: new Date(nowMs).toISOString() }
}

export function listFeedback(store: SessionStore): AnswerFeedback[] {
  return store.feedback.list(MAX_FEEDBACK_LISTED)
}
