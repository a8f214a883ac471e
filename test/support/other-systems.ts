/** other-systems.ts: a message of ours in the record format of other systems. */

import { deriveContent, type Message, type ToolCall } from "../../shared/protocol/message.ts"
import type { StreamRecord } from "../../shared/protocol/record.ts"
import { messageToRecords } from "../../shared/protocol/message-to-records.ts"

/**
 * A turn in the older record format: no position, version, step or channel; tool events without a response id; results with
 * their trailers; text in small deltas. Fields that the format lacks (the reason of a failure, approvals) stay as they are.
 */
export function legacyRecordsOf(question: Message, answer: Message): StreamRecord[] {
  const { timestamp } = question
  const userMessage: StreamRecord = { type: "user_message", timestamp, text: question.words }
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
    case "tool_call_start": {
      const { type, callId, toolName, arguments: args } = record
      return [{ type, timestamp, callId, toolName, arguments: args }]
    }
    case "tool_result": {
      const { card: _, step: __, turnId: ___, responseId: ____, media, ...bare } = record
      const call = callOf(answer, record.callId)
      // Without channels the files of a subagent look like those for the user.
      const rest = media === undefined || call?.channel !== "user" ? bare : { ...bare, media }
      // A call without a card has no trailer.
      return [call?.card == null || call.channel !== "user" ? rest : { ...rest, result: call.result }]
    }
    case "assistant_message": {
      const { type, responseId, status, reason } = record
      const ended = status === "failed" || status === "interrupted" ? { status, reason } : {}
      return [{ type, timestamp, responseId, text: deriveContent(answer), ...ended }]
    }
    case "thinking_start":
    case "thinking_done":
    case "text_done":
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

/** Longest delta of these records, in UTF-16 code units. It is short, so that it cuts tags and surrogate pairs. */
const PIECE = 7

function pieces(text: string): string[] {
  return text.match(new RegExp(`[\\s\\S]{1,${PIECE}}`, "g")) ?? [text]
}
