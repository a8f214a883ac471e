/**
 * open-answer.ts: collects the records of one imported answer as raw events until the answer ends.
 *
 * records → OPEN ANSWER → raw events → assemble-answer
 * A text that arrives whole counts only if none of it was streamed. That is known at the end of the answer, so events
 * are collected first and folded then. Pure.
 */

import { findTrailerTag } from "../protocol/card-cue.ts"
import type { TurnEvent } from "../protocol/event.ts"
import type { Grants } from "../protocol/message.ts"
import type { StreamRecord } from "../protocol/record.ts"
import { createCallEvent, createResultEvent, getResultStatus } from "./call-events.ts"
import { isQueuedResult } from "./pending-calls.ts"
import { readReportedSize } from "./history/reported-size.ts"
import { toPublicCallId } from "./public-id.ts"

/** Records that begin a turn. */
export type TurnStartRecord = Extract<StreamRecord, { type: "user_message" | "agent_message" | "agent_callback" }>

export type AnswerRecord = Exclude<StreamRecord, TurnStartRecord | { type: "signature" | "asset" }>

export type AnswerEvent =
  | TurnEvent
  /** The text of the whole answer. It counts only if no text was streamed. */
  | { readonly type: "unstreamed"; readonly text: string }
  /** The grants of the text part that ended last. */
  | { readonly type: "granted"; readonly grants: Grants }

export interface OpenAnswer {
  readonly id: string
  /** Whether a record named the id. Until then the first record with an id continues this answer. */
  readonly hasKnownId: boolean
  readonly exchangeId: string
  readonly timestamp: string
  readonly events: AnswerEvent[]
  /** Whether the file is verified. Assets and grants of other files are dropped. */
  readonly isVerified: boolean
  step: number
  /** Whether the records name the channels of their calls, as Cuecard's exports do. */
  isOwnFormat: boolean
  isStreamed: boolean
  /** Whether a delta of the open part has arrived. */
  hasDelta: boolean
  endRecord: Extract<StreamRecord, { type: "assistant_message" }> | null
  isCancelled: boolean
}

export function createOpenAnswer(
  head: Pick<OpenAnswer, "id" | "hasKnownId" | "exchangeId" | "timestamp" | "isVerified">,
): OpenAnswer {
  return {
    ...head,
    events: [],
    step: 0,
    isOwnFormat: false,
    isStreamed: false,
    hasDelta: false,
    endRecord: null,
    isCancelled: false,
  }
}

/** Adds one record to the answer that it belongs to. */
export function applyRecord(answer: OpenAnswer, record: AnswerRecord): void {
  for (; answer.step < (record.step ?? 0); answer.step++) answer.events.push({ type: "step_start" })
  switch (record.type) {
    case "text_delta":
    case "thinking_delta":
    case "thinking_start":
    case "text_done":
    case "thinking_done":
      return applyTextRecord(answer, record)
    case "assistant_message":
      answer.endRecord = record
      answer.events.push({ type: "unstreamed", text: record.text })
      return
    case "output_cancelled":
      answer.isCancelled = true
      return
    case "tool_call":
    case "tool_call_start":
    case "tool_approval":
    case "tool_output_delta":
    case "tool_result":
      answer.hasDelta = false
      if (record.type === "tool_call_start" && record.channel !== undefined) answer.isOwnFormat = true
      answer.events.push(...toCallEvents(record, answer))
  }
}

type TextRecord = Extract<StreamRecord, { type: "text_delta" | "text_done" | `thinking_${string}` }>

function applyTextRecord(answer: OpenAnswer, record: TextRecord): void {
  const { events, isVerified } = answer
  const isPartStreamed = answer.hasDelta
  answer.hasDelta = record.type === "text_delta" || record.type === "thinking_delta"
  switch (record.type) {
    case "text_delta":
    case "thinking_delta":
      answer.isStreamed ||= record.type === "text_delta"
      events.push({ type: record.type, delta: record.delta })
      return
    case "thinking_start":
      events.push({ type: "thinking_done" })
      return
    case "text_done":
      if (!isPartStreamed && record.text !== undefined) {
        answer.isStreamed = true
        events.push({ type: "text_delta", delta: record.text })
      }
      if (record.grants !== undefined && isVerified) events.push({ type: "granted", grants: record.grants })
      // An interrupted part stays open. The end of its message interrupts it.
      if (record.cut !== true) events.push({ type: "text_done" })
      return
    case "thinking_done":
      if (!isPartStreamed && record.text !== undefined) events.push({ type: "thinking_delta", delta: record.text })
      events.push({ type: "thinking_done", ...(record.ms === undefined ? {} : { ms: record.ms }) })
  }
}

type CallRecord = Extract<StreamRecord, { type: `tool_${string}` }>

function toCallEvents(record: CallRecord, answer: OpenAnswer): TurnEvent[] {
  const call_id = toPublicCallId(record.callId)
  switch (record.type) {
    case "tool_call":
      return [createCallEvent(call_id, record.toolName, record.arguments)]
    case "tool_call_start": {
      const { toolName, channel = "user", ordinal = null, ephemeral = false } = record
      // Some files have only the start of a call. A second call event of the same id changes nothing.
      const callEvents = toolName === undefined ? [] : [createCallEvent(call_id, toolName, record.arguments)]
      return [...callEvents, { type: "tool_call_start", call_id, channel, ordinal, ephemeral }]
    }
    case "tool_approval":
      return [{ type: "tool_approval", call_id, approval: record.approval }]
    case "tool_output_delta":
      return [{ type: "tool_output_delta", call_id, delta: record.delta }]
    case "tool_result":
      return [toResultEvent(call_id, record, answer)]
  }
}

/** Records of other systems name no channel. Their results may cue a card by a trailer (SPEC RE6). */
function toResultEvent(
  call_id: string,
  record: Extract<StreamRecord, { type: "tool_result" }>,
  { isOwnFormat, isVerified }: OpenAnswer,
): TurnEvent {
  const { ok, result, error, outputSize, toolName = "" } = record
  const card = record.card ?? (!isOwnFormat && typeof result === "string" ? findTrailerTag(toolName, result) : null)
  const isWaiting = record.waiting === true || isQueuedResult(result)
  const status = isWaiting ? "waiting" : getResultStatus(ok, error)
  const media = isVerified ? (record.media ?? []) : []
  // Our own records state the size in a field of its own.
  const size = outputSize ?? (isOwnFormat ? null : readReportedSize(result))
  return {
    ...createResultEvent(call_id, status, result, error ?? null, card),
    ...(size == null ? {} : { output_size: size }),
    ...(media.length === 0 ? {} : { media }),
  }
}
