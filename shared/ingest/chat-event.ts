/**
 * chat-event.ts: converts chat events from the kcosr/assistant event store to records (SPEC IR10).
 *
 * `{id, timestamp, sessionId, turnId?, responseId?, type, payload}` → RECORDS → assembler
 * docs/import.md lists each field. Content that has no corresponding segment type becomes labelled text. Pure.
 */

import { isJsonObject } from "../json.ts"
import type { StreamRecord } from "../protocol/record.ts"

type Fields = { readonly [key: string]: unknown }

export interface ChatEvent {
  readonly type: string
  readonly sessionId: string
  readonly payload: Fields
  /** Milliseconds since 1970. */
  readonly timestamp?: unknown
  readonly turnId?: unknown
  readonly responseId?: unknown
}

export function isChatEvent(value: unknown): value is ChatEvent {
  if (!isJsonObject(value)) return false
  return typeof value["type"] === "string" && typeof value["sessionId"] === "string" && isJsonObject(value["payload"])
}

/**
 * Returns the records of one event. `timestamp` is its time in ISO 8601.
 *
 * Shapes: ChatEvent → records to be parsed by `parseRecord`; none for an event without visible content; null if its
 * type is unknown.
 * Cost: linear in the size of the event.
 */
export function chatEventToRecords(event: ChatEvent, timestamp: string | undefined): object[] | null {
  const convert = Object.hasOwn(CONVERTERS, event.type) ? CONVERTERS[event.type as ChatEventType] : undefined
  if (convert === undefined) return null
  const base = {
    sessionId: event.sessionId,
    ...(timestamp === undefined ? {} : { timestamp }),
    ...toIdField("turnId", event.turnId),
    ...toIdField("responseId", event.responseId),
  }
  return convert(event.payload).map((record) => ({ ...base, ...record }))
}

function toIdField(name: "turnId" | "responseId", value: unknown): { readonly [key: string]: string } {
  return typeof value === "string" && value.trim() !== "" ? { [name]: value } : {}
}

type RecordFields = { readonly type: StreamRecord["type"]; readonly [key: string]: unknown }
type Converter = (payload: Fields) => readonly RecordFields[]

const CONVERTERS = {
  turn_start: () => [],
  turn_end: () => [],
  user_message: ({ text, fromAgentId, fromSessionId }) => [{ type: "user_message", text, fromAgentId, fromSessionId }],
  user_audio: ({ transcription }) => [{ type: "user_message", modality: "audio", text: transcription || undefined }],
  assistant_chunk: ({ text }) => [{ type: "text_delta", delta: text }],
  assistant_done: ({ text, interrupted }) => [
    { type: "text_done", text },
    ...(interrupted === true ? [{ type: "assistant_message" as const, interrupted }] : []),
  ],
  thinking_chunk: ({ text }) => [{ type: "thinking_delta", delta: text }],
  thinking_done: ({ text }) => [{ type: "thinking_done", text }],
  custom_message: ({ text, label }) => createLabelledText(label, text),
  summary_message: ({ text, summaryType }) => createLabelledText(summaryType ?? "summary", text),
  tool_call: ({ toolCallId, toolName, args }) => [
    { type: "tool_call_start", callId: toolCallId, toolName, arguments: args },
  ],
  // `tool_call` contains the complete arguments.
  tool_input_chunk: () => [],
  tool_output_chunk: ({ toolCallId, chunk }) => [{ type: "tool_output_delta", callId: toolCallId, delta: chunk }],
  tool_result: ({ toolCallId, toolName, result, error }) => [
    { type: "tool_result", callId: toolCallId, toolName, result, error, ok: error === undefined },
  ],
  interaction_request: ({ prompt, errorSummary }) => [
    ...createLabelledText("question", prompt),
    ...createLabelledText("error", errorSummary),
  ],
  interaction_response: ({ action, reason, input }) => createLabelledText("answer", action, reason, input),
  interaction_pending: () => [],
  questionnaire_request: ({ prompt, schema }) => createLabelledText("question", prompt, schema),
  questionnaire_submission: ({ answers }) => createLabelledText("answer", answers),
  questionnaire_reprompt: ({ errorSummary, fieldErrors }) => createLabelledText("error", errorSummary, fieldErrors),
  questionnaire_update: ({ status, reason }) => createLabelledText("question", status, reason),
  // The arguments of the call that sent the message contain the message's text.
  agent_message: () => [],
  agent_callback: ({ messageId, exchangeId, fromAgentId, fromSessionId, result }) => [
    { type: "agent_callback", agentExchangeId: exchangeId ?? messageId, fromAgentId, fromSessionId, text: result },
  ],
  agent_switch: ({ fromAgentId, toAgentId }) => createLabelledText("agent", `${fromAgentId} → ${toAgentId}`),
  interrupt: ({ reason }) =>
    reason === "user_cancel" ? [{ type: "output_cancelled" }] : [{ type: "assistant_message", interrupted: true }],
  error: ({ code, message }) => [
    ...createLabelledText(code, message),
    { type: "assistant_message", status: "failed", reason: null },
  ],
  // The recording itself is not imported. The event at its end becomes a label.
  audio_chunk: () => [],
  audio_done: () => [{ type: "assistant_message", modality: "audio" }],
} satisfies Record<string, Converter>

type ChatEventType = keyof typeof CONVERTERS

/** Creates a separate text part: a label, followed by the values. Values that are not strings are written as JSON. */
function createLabelledText(label: unknown, ...values: readonly unknown[]): RecordFields[] {
  const texts = values.flatMap((value) => {
    if (value === undefined || value === null || value === "") return []
    return typeof value === "string" ? value : `\`\`\`json\n${JSON.stringify(value)}\n\`\`\``
  })
  if (texts.length === 0) return []
  const delta = [typeof label === "string" && label !== "" ? `[${label}]` : "[message]", ...texts].join("\n\n")
  // The first record ends the preceding text part.
  return [{ type: "thinking_start" }, { type: "text_delta", delta }, { type: "text_done" }]
}
