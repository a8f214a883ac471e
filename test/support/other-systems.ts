/**
 * other-systems.ts: writes one of our messages as it would appear in a conversation log of kcosr/assistant.
 *
 * The shapes follow packages/agent-server/src/conversationStore.ts (ConversationLogRecord) at 211984a. Each call
 * appears as a turn record with `argsJson` and as a stream event with `arguments`. The text of the whole answer appears
 * twice at its end.
 */

import { deriveContent, type Message, type ToolCall } from "../../shared/protocol/message.ts"
import type { StreamRecord } from "../../shared/protocol/record.ts"
import { messageToRecords } from "../../shared/segment/message-to-records.ts"

const sessionId = "session-1"

/**
 * Returns the records of a turn in that format. They have no position, version, step or channel; tool events have no
 * response id; results include their trailers; and text comes in small deltas. Information that the format can't
 * express is written as in our own records: the reason for a failure, approvals, and the boundaries between adjacent
 * parts.
 */
export function legacyRecordsOf(question: Message, answer: Message): StreamRecord[] {
  const { timestamp } = question
  const userMessage: StreamRecord = {
    type: "user_message",
    timestamp,
    sessionId,
    modality: "text",
    text: question.words,
  }
  return [
    userMessage,
    ...messageToRecords({ pos: 0, parent: null, tip: null, message: answer }, "").flatMap((record) =>
      legacy(record, answer),
    ),
  ]
}

function legacy(record: StreamRecord, answer: Message): StreamRecord[] {
  const { timestamp } = record
  switch (record.type) {
    case "text_delta":
    case "thinking_delta": {
      const { type, responseId } = record
      return pieces(record.delta).map((delta) => ({ type, timestamp, responseId, delta }))
    }
    case "tool_call": {
      const { type, callId, toolName, arguments: argsJson } = record
      return [{ type, timestamp, sessionId, callId, toolName, argsJson }]
    }
    case "tool_call_start": {
      const { type, callId, toolName, arguments: args } = record
      return [{ type, timestamp, sessionId, callId, toolName, arguments: args }]
    }
    case "tool_result": {
      const { card: _, step: __, turnId: ___, responseId: ____, media, ...bare } = record
      const call = callOf(answer, record.callId)
      // Without channels, a subagent's files look like files for the user.
      const rest = media === undefined || call?.channel !== "user" ? bare : { ...bare, media }
      // A call without a card has no trailer.
      return [call?.card == null || call.channel !== "user" ? rest : { ...rest, result: call.result }]
    }
    case "assistant_message": {
      const { type, responseId, status, reason } = record
      const ended = status === "failed" || status === "interrupted" ? { status, reason } : {}
      const text = deriveContent(answer)
      const message: StreamRecord = { type, timestamp, sessionId, responseId, modality: "text", text, ...ended }
      const whole: StreamRecord = { type: "text_done", timestamp, sessionId, responseId, text }
      return status === "completed" && text !== "" ? [whole, message] : [message]
    }
    case "text_done": {
      const { type, responseId, cut } = record
      return [{ type, timestamp, responseId, ...(cut === undefined ? {} : { cut }) }]
    }
    case "thinking_start":
    case "thinking_done":
    case "output_cancelled": {
      const { step: _, turnId: __, sessionId: ___, ...rest } = record
      return [rest]
    }
    default: {
      const { step: _, turnId: __, responseId: ___, ...rest } = record
      return [rest]
    }
  }
}

function callOf(message: Message, id: string): ToolCall | undefined {
  return message.parts
    .flatMap((part) => (part.type === "tool_call" ? [part.call] : []))
    .find(({ call_id }) => call_id === id)
}

/**
 * Maximum length of a delta in these records, in UTF-16 code units. It is short, so that deltas cut through tags and
 * surrogate pairs.
 */
const PIECE = 7

function pieces(text: string): string[] {
  return text.match(new RegExp(`[\\s\\S]{1,${PIECE}}`, "g")) ?? [text]
}
