/**
 * external-record.ts: interprets one record from an external producer, given the answer so far.
 *
 * record → INTERPRET → raw events, an end, or a refusal → recorder
 * An external producer can show text, thinking and tool calls. It cannot cue a card (SPEC EX4): `card`, `ordinal` and
 * `channel` in its records are ignored, and approvals are refused. Text is cleaned later, like any producer's text.
 * Pure.
 */

import { fillCall, UNNAMED_TOOL } from "../protocol/calls/call-args.ts"
import { createCallEvent, createResultEvent, getResultStatus, readCallArguments } from "./call-events.ts"
import { readReportedSize } from "./history/reported-size.ts"
import { toPublicCallId } from "./public-id.ts"
import { StreamedText, type TextKind } from "./whole-text.ts"
import type { TurnEvent } from "../protocol/event.ts"
import { type Fault, type TurnFault, turnFaultToText } from "../fault.ts"
import { createMessage, isSettled, listCalls, type Message, type ToolCall } from "../protocol/message.ts"
import type { StreamRecord } from "../protocol/record.ts"

export type ExternalEndStatus = "completed" | "interrupted" | "failed"

export type RecordEffect =
  | { readonly do: "say"; readonly events: readonly TurnEvent[] }
  /** Output of a running call. The caller limits its length, because only the caller has the earlier output. */
  | { readonly do: "output"; readonly call: ToolCall; readonly delta: string }
  | {
      readonly do: "end"
      readonly events: readonly TurnEvent[]
      readonly status: ExternalEndStatus
      readonly reason: TurnFault | null
    }
  | { readonly do: "cancel" }
  | { readonly do: "refuse"; readonly fault: Fault }

/**
 * The reasons that an external producer may give for a failed or interrupted answer. Any other reason becomes
 * `producer_failed`.
 */
const ALLOWED_REASONS: readonly TurnFault[] = [
  "producer_failed",
  "producer_gone",
  "step_limit",
  "turn_timeout",
  "context_exceeded",
  "model_unreachable",
  "model_refused",
  "model_rate_limited",
  "model_timeout",
  "model_cut_off",
]

/**
 * Shapes: (the answer so far, its raw text, StreamRecord) → RecordEffect.
 * Errors: `record_refused` for record types that producers may not send, `call_unknown`, `call_settled`,
 * `field_invalid`. Cost: linear in the number of parts.
 * Source: SPEC EX3–EX5.
 */
export function interpretRecord(message: Message, streamed: StreamedText, record: StreamRecord): RecordEffect {
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
      // Ends an open thinking part, so that the next delta begins a new one.
      return { do: "say", events: [{ type: "thinking_done" }] }
    case "text_done":
      return emitEvents(message, record, ...createRestEvents(streamed, "text", record.text), { type: "text_done" })
    case "thinking_done": {
      const ms = record.ms === undefined || record.ms < 0 ? {} : { ms: record.ms }
      return emitEvents(message, record, ...createRestEvents(streamed, "thinking", record.text), {
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
      return interpretEnd(message, streamed, record)
  }
}

function createRefusal(type: string): Fault {
  return { reason: "record_refused", type }
}

/** Returns the reason why an external producer must not send this record as its first one; null if it may. */
export function findRecordFault(record: StreamRecord): Fault | null {
  const effect = interpretRecord(EMPTY_ANSWER, new StreamedText(), record)
  return effect.do === "refuse" ? effect.fault : null
}

/** An answer without parts. */
const EMPTY_ANSWER = createMessage({ id: "", role: "assistant", exchange_id: "", timestamp: "" })

/**
 * Assigns events to the step that the record names. If it names none, text after settled calls begins the next step.
 */
function emitEvents(message: Message, record: StreamRecord, ...events: TurnEvent[]): RecordEffect {
  // Only visible events begin a step.
  const isVisible = events.some((event) => "delta" in event || event.type === "tool_call")
  const step = isVisible ? resolveStep(message, record) : message.step
  // Steps that the producer skipped are also started, so that the step numbers agree.
  const stepStarts = Array.from({ length: Math.max(step - message.step, 0) }, (): TurnEvent => ({ type: "step_start" }))
  return { do: "say", events: [...stepStarts, ...events] }
}

function resolveStep(message: Message, { type, step }: StreamRecord): number {
  if (step !== undefined) return Math.max(step, 1)
  const isAfterCalls =
    message.parts.at(-1)?.type === "tool_call" && listCalls(message).every((call) => isSettled(call.status))
  // A call may belong to the same step as calls that are already settled.
  return Math.max(message.step + (isAfterCalls && !type.startsWith("tool_") ? 1 : 0), 1)
}

/** Creates events for the part of a whole text that was not streamed (SPEC IR3). */
function createRestEvents(streamed: StreamedText, kind: TextKind, whole = ""): TurnEvent[] {
  return createTextEvents(kind, streamed.findRest(kind, whole))
}

function createTextEvents(kind: TextKind, delta: string): TurnEvent[] {
  return delta === "" ? [] : [{ type: `${kind}_delta`, delta }]
}

type CallRecord = Extract<StreamRecord, { type: "tool_call" | "tool_call_start" | "tool_output_delta" | "tool_result" }>

function interpretCall(message: Message, record: CallRecord): RecordEffect {
  const call_id = toPublicCallId(record.callId)
  const call = listCalls(message).find((known) => known.call_id === call_id)
  switch (record.type) {
    case "tool_call":
    case "tool_call_start": {
      const { toolName } = record
      const event = createCallEvent(call_id, toolName || (call?.name ?? UNNAMED_TOOL), readCallArguments(record))
      if (call !== undefined) return { do: "say", events: fillCall(call, event) === call ? [] : [event] }
      if (toolName === undefined) return { do: "refuse", fault: { reason: "call_unknown" } }
      return emitEvents(message, record, event, createStartEvent(call_id))
    }
    case "tool_output_delta":
      if (call === undefined) return { do: "refuse", fault: { reason: "call_unknown" } }
      if (isSettled(call.status)) return { do: "refuse", fault: { reason: "call_settled" } }
      return { do: "output", call, delta: record.delta }
    case "tool_result": {
      if (call !== undefined && isSettled(call.status)) return { do: "refuse", fault: { reason: "call_settled" } }
      // A result without a call is shown as a separate call.
      const callEvents =
        call === undefined ? [createCallEvent(call_id, record.toolName || UNNAMED_TOOL), createStartEvent(call_id)] : []
      return emitEvents(message, record, ...callEvents, toResultEvent(call_id, record))
    }
  }
}

/** Creates the event that starts a call. The producer runs its own calls, so a call starts when its record arrives. */
function createStartEvent(call_id: string): TurnEvent {
  return { type: "tool_call_start", call_id, channel: "external", ordinal: null }
}

/** Creates the event of a result. A failed call without an error gets the error `tool_failed`. No card is cued. */
function toResultEvent(call_id: string, record: Extract<StreamRecord, { type: "tool_result" }>): TurnEvent {
  const { ok, result, error, outputSize } = record
  const failure = error ?? { code: "tool_failed", message: turnFaultToText("tool_failed") }
  const size = outputSize ?? readReportedSize(result)
  const event = createResultEvent(call_id, getResultStatus(ok, error), result, ok ? null : failure, null)
  return size === null ? event : { ...event, output_size: size }
}

/** Ends the answer and adds only text that was not streamed. A status of `running` or `waiting` is refused. */
function interpretEnd(
  message: Message,
  streamed: StreamedText,
  record: Extract<StreamRecord, { type: "assistant_message" }>,
): RecordEffect {
  const { text = "", thinkingText = "", reason } = record
  const status = record.status ?? (record.interrupted === true ? "interrupted" : "completed")
  if (status === "running" || status === "waiting") {
    return { do: "refuse", fault: { reason: "field_invalid", field: "status" } }
  }
  if (status === "cancelled") return { do: "cancel" }
  const thinking = createTextEvents("thinking", streamed.findRestOfResponse("thinking", thinkingText) ?? "")
  const rest = createTextEvents("text", streamed.findRestOfResponse("text", text) ?? "")
  // Thinking that wasn't streamed must not split the open text part, so it is added after the text.
  const texts = streamed.isOpen("text") ? [...rest, ...thinking] : [...thinking, ...rest]
  const emitted = texts.length === 0 ? null : emitEvents(message, record, ...texts)
  return {
    do: "end",
    events: [...(emitted?.do === "say" ? emitted.events : []), ...interruptOpenCalls(message)],
    status,
    // An interruption without a reason does not mean that the producer failed.
    reason: record.status === undefined && reason == null ? null : resolveReason(status, reason),
  }
}

/** Returns events that interrupt the open calls of an ended answer, because no more results can arrive. */
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
