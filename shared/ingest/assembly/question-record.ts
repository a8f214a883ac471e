/**
 * question-record.ts: converts the record that begins a turn to the question's message.
 *
 * user_message, agent_message, agent_callback → QUESTION → message
 * Pure.
 */

import { toActionRef } from "../../protocol/cards/action-key.ts"
import { createMessage, type Message } from "../../protocol/message.ts"
import { readRecordTime } from "./record-time.ts"
import { createAgentTag } from "./assemble-answer.ts"
import type { TurnStartRecord } from "./open-answer.ts"
import { toPublicCallId, toPublicId } from "../public-id.ts"
import { readAttachments } from "./record-trust.ts"

interface QuestionHead {
  readonly id: string
  readonly exchangeId: string
  /** The call that a callback answers. */
  readonly call_id: string | null
  readonly isVerified: boolean
}

/** Returns a question from the user, or from another agent if the record names a sender. */
export function createQuestion(
  record: TurnStartRecord,
  { id, exchangeId, call_id, isVerified }: QuestionHead,
): Message {
  const head = {
    id,
    exchange_id: exchangeId,
    status: "completed",
    words: record.text ?? "",
    timestamp: readRecordTime(record),
    version: record.version ?? 1,
  } as const
  const sender = record.from ?? record.fromAgentId ?? record.fromSessionId
  if (record.type === "user_message" && sender === undefined) {
    const fields = { ...readAttachments(record, isVerified), reply_to: toPublicId(record.replyTo) }
    const { cardAction } = record
    if (cardAction !== undefined) {
      const action = toActionRef({ ...cardAction, call_id: toPublicCallId(cardAction.callId) })
      return createMessage({ ...head, role: "user", ...fields, mode: "action", action })
    }
    return createMessage({ ...head, role: "user", ...fields, ...(isSpoken(record) ? { mode: "spoken" } : {}) })
  }
  const exchange = record.agentExchangeId ?? (record.type === "user_message" ? undefined : record.responseId)
  const tag = createAgentTag("received", sender ?? "agent", exchange, id)
  const origin = record.type === "user_message" ? null : (record.origin ?? null)
  if (record.type !== "agent_callback") return createMessage({ ...head, role: "agent", agent: tag, origin })
  const callId = record.callId === undefined ? (call_id ?? id) : toPublicCallId(record.callId)
  return createMessage({ ...head, role: "agent", agent: { ...tag, call_id: callId }, origin })
}

/** Returns whether a question was spoken. One without text counts as spoken, whatever its record says (SPEC IR4). */
function isSpoken({ modality, text }: Extract<TurnStartRecord, { type: "user_message" }>): boolean {
  return modality === "audio" || modality === "both" || text === undefined
}

/** The form in which a question repeats a callback: `[Async response, responseId=…]: text`. */
const REPEATED_CALLBACK = /^\[Async response, responseId=([^\]\n]{1,200})\]: /

/** Returns the callback that a question repeats; null if the question does not repeat one. */
export function readCallback(
  record: Extract<TurnStartRecord, { type: "agent_message" }>,
): Extract<TurnStartRecord, { type: "agent_callback" }> | null {
  const match = record.pos === undefined ? REPEATED_CALLBACK.exec(record.text) : null
  if (match === null) return null
  return { ...record, type: "agent_callback", responseId: match[1], text: record.text.slice(match[0].length) }
}

/** Returns the ids by which a callback refers to its question: those of the call, the response and the exchange. */
export function listNamedQuestions(record: Extract<TurnStartRecord, { type: "agent_callback" }>): string[] {
  if (record.callId !== undefined) return [toPublicCallId(record.callId)]
  return [record.agentExchangeId, record.responseId].filter((id) => id !== undefined)
}
