/**
 * external-record.ts: what a record of a producer outside comes to in the answer that it tells.
 *
 * record → FOREIGN → raw events, an end, or why not → recorder
 * A producer outside shows text, thinking and tool blocks. It cuts no card (law 4): `card`, `ordinal`, `channel` and
 * leave are ours to say, and what they say of themselves is not read. Text is cleaned behind this door, as everybody's.
 * Pure.
 */

import { toPublicId } from "./assembler.ts"
import type { TurnEvent } from "../protocol/event.ts"
import { type Fault, type TurnFault, turnFaultToText } from "../fault.ts"
import { MAX_ARGS_CHARS, MAX_ERROR_CHARS, MAX_RESULT_BYTES, MAX_TOOL_NAME_CHARS } from "../limits.ts"
import {
  listCalls,
  isSettled,
  type Message,
  createMessage,
  type ToolCall,
  createTooLargeResult,
} from "../protocol/message.ts"
import { replaceLoneSurrogates } from "../text/characters.ts"
import type { StreamRecord } from "../protocol/record.ts"
import { countUtf8Bytes } from "../truncate.ts"

export type ExternalEndStatus = "completed" | "interrupted" | "failed"

export type RecordEffect =
  | { readonly do: "say"; readonly events: readonly TurnEvent[] }
  /** What a running call says; its bounds are kept by whoever knows what it said before. */
  | { readonly do: "output"; readonly call: ToolCall; readonly delta: string }
  | {
      readonly do: "end"
      readonly events: readonly TurnEvent[]
      readonly status: ExternalEndStatus
      readonly reason: TurnFault | null
    }
  | { readonly do: "cancel" }
  | { readonly do: "refuse"; readonly fault: Fault }

/** Why an answer from outside may say that it did not end well; any other reason is `producer_failed`. */
const ALLOWED_REASONS: readonly TurnFault[] = [
  ...(["producer_failed", "producer_gone", "step_limit", "turn_timeout", "context_exceeded"] as const),
  ...(["model_unreachable", "model_refused", "model_rate_limited", "model_timeout", "model_cut_off"] as const),
]

/**
 * Shapes  (the answer so far, StreamRecord) → Heard.
 * Errors  `record_refused` for what only others may say, `call_unknown`, `call_settled`, `field_invalid`.
 * Cost    the number of parts.
 * Source  SPEC EX3–EX5.
 */
export function interpretRecord(message: Message, record: StreamRecord): RecordEffect {
  switch (record.type) {
    case "user_message":
    case "agent_message":
    case "agent_callback":
    case "tool_approval":
    case "signature":
    case "asset":
      return { do: "refuse", fault: createRefusal(record.type) }
    case "text_delta":
    case "thinking_delta":
      if (record.delta === "") return { do: "say", events: [] }
      return emitEvents(message, record, { type: record.type, delta: record.delta })
    case "thinking_start":
      // A thought of its own, also where another stands open.
      return { do: "say", events: [{ type: "thinking_done" }] }
    case "text_done":
      return emitEvents(message, record, ...createWholePart(message, "text", record.text), { type: "text_done" })
    case "thinking_done": {
      const ms = record.ms === undefined || record.ms < 0 ? {} : { ms: record.ms }
      return emitEvents(message, record, ...createWholePart(message, "thinking", record.text), {
        type: "thinking_done",
        ...ms,
      })
    }
    case "tool_call":
    case "tool_call_start":
    case "tool_output_delta":
    case "tool_result":
      return interpretCall(message, record)
    case "output_cancelled":
      return { do: "cancel" }
    case "assistant_message":
      return interpretEnd(message, record)
  }
}

function createRefusal(type: string): Fault {
  return { reason: "record_refused", type }
}

/** Why a record is not for a producer outside, whatever it tells; null where it may be. It begins no answer then. */
export function findRecordFault(record: StreamRecord): Fault | null {
  const effect = interpretRecord(EMPTY_ANSWER, record)
  return effect.do === "refuse" ? effect.fault : null
}

/** An answer before anything was told of it. */
const EMPTY_ANSWER = createMessage({ id: "", role: "assistant", exchange_id: "", timestamp: "" })

/** What a record shows stands in the step that it names; without one, what is said after calls came back in the next. */
function emitEvents(message: Message, record: StreamRecord, ...events: TurnEvent[]): RecordEffect {
  // Only what shows something begins a step.
  const isVisible = events.some((event) => "delta" in event || event.type === "tool_call")
  const step = isVisible ? resolveStep(message, record) : message.step
  // One that the producer leaves out is counted too: what follows is in the step that it names.
  const stepStarts = Array.from({ length: Math.max(step - message.step, 0) }, (): TurnEvent => ({ type: "step_start" }))
  return { do: "say", events: [...stepStarts, ...events] }
}

function resolveStep(message: Message, { type, step }: StreamRecord): number {
  if (step !== undefined) return Math.max(step, 1)
  const isAfterCalls =
    message.parts.at(-1)?.type === "tool_call" && listCalls(message).every((call) => isSettled(call.status))
  // A call may stand beside others that were quicker.
  return Math.max(message.step + (isAfterCalls && !type.startsWith("tool_") ? 1 : 0), 1)
}

/** The whole of a part counts only where nothing of it streamed. */
function createWholePart(message: Message, type: "text" | "thinking", text: string | undefined): TurnEvent[] {
  const last = message.parts.at(-1)
  const isStreamed = last?.type === type && last.open
  if (isStreamed || text === undefined || text === "") return []
  return [type === "text" ? { type: "text_delta", delta: text } : { type: "thinking_delta", delta: text }]
}

type CallRecord = Extract<StreamRecord, { type: "tool_call" | "tool_call_start" | "tool_output_delta" | "tool_result" }>

function interpretCall(message: Message, record: CallRecord): RecordEffect {
  const call_id = toPublicId(record.callId) ?? "call"
  const call = listCalls(message).find((one) => one.call_id === call_id)
  switch (record.type) {
    case "tool_call":
    case "tool_call_start": {
      const { toolName, arguments: args } = record
      if (call !== undefined) return { do: "say", events: [] }
      if (toolName === undefined) return { do: "refuse", fault: { reason: "call_unknown" } }
      return emitEvents(message, record, ...createCallEvents(call_id, toolName, args))
    }
    case "tool_output_delta":
      if (call === undefined) return { do: "refuse", fault: { reason: "call_unknown" } }
      if (isSettled(call.status)) return { do: "refuse", fault: { reason: "call_settled" } }
      return { do: "output", call, delta: record.delta }
    case "tool_result": {
      if (call !== undefined && isSettled(call.status)) return { do: "refuse", fault: { reason: "call_settled" } }
      // One whose call never came is shown by itself.
      const callEvents = call === undefined ? createCallEvents(call_id, record.toolName ?? "tool", undefined) : []
      return emitEvents(message, record, ...callEvents, createResultEvent(call_id, record))
    }
  }
}

/** Its producer runs it: it was dispatched when we hear of it. */
function createCallEvents(call_id: string, toolName: string, args = "{}"): TurnEvent[] {
  const name = replaceLoneSurrogates(toolName.slice(0, MAX_TOOL_NAME_CHARS))
  return [
    { type: "tool_call", call_id, name, args: replaceLoneSurrogates(args.slice(0, MAX_ARGS_CHARS)) },
    { type: "tool_call_start", call_id, channel: "external", ordinal: null },
  ]
}

function createResultEvent(call_id: string, record: Extract<StreamRecord, { type: "tool_result" }>): TurnEvent {
  const { ok, result, error } = record
  const text = result === undefined ? null : typeof result === "string" ? result : JSON.stringify(result)
  if (text !== null && countUtf8Bytes(text) > MAX_RESULT_BYTES) return createTooLargeResult(call_id)
  const status = ok ? "ok" : error?.code === "tool_interrupted" ? "interrupted" : "failed"
  const keptError =
    error === undefined
      ? null
      : { code: truncateField(error.code, MAX_TOOL_NAME_CHARS), message: truncateField(error.message) }
  const defaultError = ok ? null : { code: "tool_failed", message: turnFaultToText("tool_failed") }
  return {
    type: "tool_result",
    call_id,
    status,
    card: null,
    result: text === null ? null : replaceLoneSurrogates(text),
    error: ok ? null : (keptError ?? defaultError),
  }
}

function truncateField(text: string, max = MAX_ERROR_CHARS): string {
  return replaceLoneSurrogates(text.slice(0, max))
}

/** Its text counts only where nothing of it streamed; how it stands while it runs is no end. */
function interpretEnd(message: Message, record: Extract<StreamRecord, { type: "assistant_message" }>): RecordEffect {
  const { text, status = "completed", reason } = record
  if (status === "running" || status === "waiting") {
    return { do: "refuse", fault: { reason: "field_invalid", field: "status" } }
  }
  if (status === "cancelled") return { do: "cancel" }
  const isStreamed = message.parts.some((part) => part.type === "text")
  const unstreamed = isStreamed || text === "" ? null : emitEvents(message, record, { type: "text_delta", delta: text })
  const events = unstreamed?.do === "say" ? unstreamed.events : []
  return {
    do: "end",
    events: [...events, ...interruptOpenCalls(message)],
    status,
    reason: resolveReason(status, reason),
  }
}

/** An answer that is over waits for no call: its producer does not come back to tell. */
function interruptOpenCalls(message: Message): TurnEvent[] {
  const error = { code: "tool_interrupted", message: turnFaultToText("tool_interrupted") }
  const openCalls = listCalls(message).filter((call) => !isSettled(call.status))
  return openCalls.map(({ call_id }) => {
    return { type: "tool_result", call_id, status: "interrupted", result: null, card: null, error }
  })
}

function resolveReason(status: ExternalEndStatus, reported: string | null | undefined): TurnFault | null {
  if (status === "completed") return null
  return ALLOWED_REASONS.find((reason) => reason === reported) ?? "producer_failed"
}
