/**
 * message-to-records.ts: converts a message to the records that an export writes.
 *
 * Message → RECORDS → JSONL
 */

import { toActionRef } from "../protocol/cards/action-key.ts"
import type { ActionRef } from "../protocol/cards/card-action.ts"
import { extractResultData } from "../protocol/card-cue.ts"
import type { Asset, Metrics } from "../protocol/event.ts"
import type { Feedback } from "../protocol/writing/feedback.ts"
import { findCutIndex } from "../text/cut-text.ts"
import {
  deriveContent,
  type Grants,
  isDeferred,
  isSettled,
  type Message,
  type Part,
  type ToolCall,
} from "../protocol/message.ts"
import type { StreamRecord } from "../protocol/record.ts"

/** A message and its position in the tree. */
export interface PlacedMessage {
  readonly pos: number
  readonly parent: number | null
  readonly tip: number | null
  readonly message: Message
}

/**
 * Maximum length of the text in a record, in UTF-16 code units. Longer text is written as several deltas. SPEC RE43.
 */
export const MAX_RECORD_TEXT_CHARS = 250_000

/**
 * Returns the records of one message, each with its own time. Importing the records in this order recreates the
 * message. Cost: linear in the size of the message. SPEC RE1, RE2, RE42, RE43.
 */
export function messageToRecords({ pos, parent, tip, message }: PlacedMessage, sessionId: string): StreamRecord[] {
  const { id, role, exchange_id, timestamp, version, reply_to } = message
  const base = { timestamp, sessionId, turnId: exchange_id, responseId: id }
  const placement = { pos, parent, ...(version > 1 ? { version } : {}), ...(tip === null ? {} : { tip }) }
  const reply = reply_to === null ? {} : { replyTo: reply_to }
  if (role === "agent") return [agentMessageToRecord(message, { ...base, ...placement })]
  if (role !== "assistant") {
    const modality = message.mode === "spoken" ? { modality: "audio" as const } : {}
    const text = { text: message.words, ...modality }
    const { action } = message
    const click = action === undefined ? {} : { cardAction: actionToRecord(action) }
    return [
      { type: "user_message", ...base, ...placement, ...text, ...reply, ...attachmentsToFields(message), ...click },
    ]
  }
  const end = { ...base, timestamp: message.endedAt ?? timestamp }
  const records: StreamRecord[] = [
    ...partsToRecords(message, base),
    ...(message.status === "cancelled" ? [{ type: "output_cancelled" as const, ...end }] : []),
  ]
  // If `started` is absent, the answer began with its first record.
  const isStartKnown = (records[0] ?? end).timestamp === timestamp
  const start = isStartKnown ? {} : { started: timestamp }
  return [
    ...records,
    { type: "assistant_message", ...end, ...placement, ...answerToFields(message), ...start, ...reply },
  ]
}

function answerToFields(message: Message) {
  const { status, reason, metrics, summary, origin, agent, mode, feedback } = message
  const text = deriveContent(message)
  return {
    // On import, the text of a long answer comes from its deltas.
    text: text.length > MAX_RECORD_TEXT_CHARS ? "" : text,
    status: status === "queued" ? ("running" as const) : status,
    reason,
    metrics: metrics === null ? null : orderMetrics(metrics),
    ...(summary === null ? {} : { summary: { text: summary.text, upto: summary.upto } }),
    ...(origin === null ? {} : { origin }),
    ...(mode === "external" ? { mode: "external" as const } : {}),
    ...(feedback === undefined ? {} : { feedback: orderFeedback(feedback) }),
    ...(agent === null ? {} : { to: agent.name, agentExchangeId: agent.exchange }),
  }
}

/**
 * Returns the metrics with their fields in the parser's order, so that an imported message is exported as the same
 * bytes.
 */
function orderMetrics({ ms, steps, input_tokens, output_tokens }: Metrics): Metrics {
  return {
    ms,
    steps,
    ...(input_tokens === undefined ? {} : { input_tokens }),
    ...(output_tokens === undefined ? {} : { output_tokens }),
  }
}

/** Returns the feedback with its fields in the parser's order. */
function orderFeedback({ rating, reason, note, at }: Feedback): Feedback {
  return { rating, reason, note, at }
}

/** The records that end a call. These records follow those of calls that were requested in the meantime. */
interface PendingEnd {
  readonly at: string
  readonly hasCard: boolean
  readonly records: readonly StreamRecord[]
}

/**
 * Returns the records of all parts. The records of calls that ran at the same time overlap: the end of a call follows
 * the beginning of every call that began before that end. Calls without times don't overlap.
 */
function partsToRecords(message: Message, head: Omit<RecordBase, "step">): StreamRecord[] {
  const records: StreamRecord[] = []
  let pending: PendingEnd[] = []
  for (const part of message.parts) {
    const begin = part.times?.begin ?? message.timestamp
    const isFirst = (end: PendingEnd): boolean => end.at <= begin || mustPrecede(end, part)
    records.push(...pending.filter(isFirst).flatMap((end) => end.records))
    pending = pending.filter((end) => !isFirst(end))
    const base = { ...head, step: part.step }
    if (part.type !== "tool_call") {
      records.push(...textToRecords(part, base))
      continue
    }
    records.push(...callToRecords(part, base))
    const at = part.times?.end ?? part.times?.started ?? begin
    pending.push({ at, hasCard: part.call.card !== null, records: callEndToRecords(part, base) })
    // The sort is stable, so that ends with the same time keep the order of their calls.
    pending.sort((one, other) => compareTimes(one.at, other.at))
  }
  return [...records, ...pending.flatMap((end) => end.records)]
}

function compareTimes(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}

/**
 * Returns whether an end must precede a part: a result that cued a card arrived before the text that may show the card
 * (SPEC EV3).
 */
function mustPrecede({ hasCard }: PendingEnd, part: Part): boolean {
  return hasCard && part.type === "text" && part.text.includes("<span")
}

function attachmentsToFields({ attachments }: Message): { readonly attachments?: Asset[] } {
  return attachments.length === 0 ? {} : { attachments: [...attachments] }
}

/** Returns the record of an asset. `message` is the first message that uses it. */
export function assetToRecord(asset: Asset, message: Message, sessionId: string): StreamRecord {
  const { timestamp, exchange_id: turnId, id: responseId } = message
  return { type: "asset", timestamp, sessionId, turnId, responseId, asset }
}

function agentMessageToRecord({ words: text, agent, origin }: Message, base: Omit<RecordBase, "step">): StreamRecord {
  const originField = { ...(origin === null ? {} : { origin }) }
  if (agent === null) return { type: "agent_message", ...base, text, ...originField }
  const { name: from, exchange: agentExchangeId, call_id: callId } = agent
  return callId === undefined
    ? { type: "agent_message", ...base, text, from, agentExchangeId, ...originField }
    : { type: "agent_callback", ...base, text, callId, from, agentExchangeId, ...originField }
}

interface RecordBase {
  /** The time of the message. */
  readonly timestamp: string
  readonly sessionId: string
  readonly turnId: string
  readonly responseId: string
  readonly step: number
}

type TextPart = Exclude<Part, { type: "tool_call" }>

function textToRecords(part: TextPart, base: RecordBase): StreamRecord[] {
  const { text, times } = part
  const begin = { ...base, timestamp: times?.begin ?? base.timestamp }
  const end = { ...base, timestamp: times?.end ?? base.timestamp }
  const deltas = cutIntoDeltas(text)
  // If there are several deltas, the text is omitted here: on import, it comes from the deltas.
  const whole = deltas.length > 1 ? {} : { text }
  if (part.type === "thinking") {
    const ms = part.ms === null ? {} : { ms: part.ms }
    return [
      { type: "thinking_start", ...begin },
      ...deltas.map((delta) => ({ type: "thinking_delta" as const, ...begin, delta })),
      ...(part.open ? [] : [{ type: "thinking_done" as const, ...end, ...whole, ...ms }]),
    ]
  }
  // Open text with grants is exported as text that was cut off, because grants are a field of `text_done`.
  const hasEnd = part.open ? part.grants !== undefined : true
  const cut = part.cut === true || part.open ? { cut: true } : {}
  const grants = part.grants === undefined ? {} : { grants: copyGrants(part.grants) }
  return [
    ...deltas.map((delta) => ({ type: "text_delta" as const, ...begin, delta })),
    ...(hasEnd ? [{ type: "text_done" as const, ...end, ...whole, ...cut, ...grants }] : []),
  ]
}

/** Splits text into deltas. Empty text becomes one empty delta. */
function cutIntoDeltas(text: string): string[] {
  const deltas: string[] = []
  for (let rest = text; rest !== "" || deltas.length === 0; ) {
    const end = findCutIndex(rest, MAX_RECORD_TEXT_CHARS)
    deltas.push(rest.slice(0, end))
    rest = rest.slice(end)
  }
  return deltas
}

function copyGrants({ origins, replies, assets, canvases }: Grants) {
  const documents = canvases === undefined ? {} : { canvases: [...canvases] }
  return { origins: [...origins], replies: [...replies], assets: [...assets], ...documents }
}

type CallPart = Extract<Part, { type: "tool_call" }>

/** Returns the records of a call's request, approval and start. */
function callToRecords({ call, times }: CallPart, base: RecordBase): StreamRecord[] {
  const { call_id: callId, name: toolName, args, channel, ordinal, ephemeral, approval } = call
  const createBaseAt = (time: string | undefined) => ({ ...base, timestamp: time ?? times?.begin ?? base.timestamp })
  const records: StreamRecord[] = [
    { type: "tool_call", ...createBaseAt(times?.begin), callId, toolName, arguments: args },
  ]
  if (approval !== null)
    records.push({ type: "tool_approval", ...createBaseAt(times?.asked), callId, approval: "asked" })
  if (approval !== null && approval !== "asked")
    records.push({ type: "tool_approval", ...createBaseAt(times?.decided), callId, approval })
  if (channel !== null) {
    const start = { callId, toolName, arguments: args, channel, ordinal, ...(ephemeral ? { ephemeral } : {}) }
    records.push({ type: "tool_call_start", ...createBaseAt(times?.started), ...start })
  }
  return records
}

/** Returns the records of a call's output and result. */
function callEndToRecords({ call, times }: CallPart, base: RecordBase): StreamRecord[] {
  const { call_id: callId, output, status } = call
  const end = { ...base, timestamp: times?.end ?? times?.started ?? times?.begin ?? base.timestamp }
  const hasResult = isSettled(status) || isDeferred(call)
  return [
    ...(output === "" ? [] : [{ type: "tool_output_delta" as const, ...end, callId, delta: output }]),
    ...(hasResult ? [resultToRecord(call, end)] : []),
  ]
}

function resultToRecord(
  { call_id: callId, name: toolName, status, result, error, card, outputSize, media }: ToolCall,
  base: RecordBase,
) {
  return {
    type: "tool_result" as const,
    ...base,
    callId,
    toolName,
    ok: status === "ok" || status === "waiting",
    // Instruction trailers are for the model and are never exported.
    ...(result === null ? {} : { result: extractResultData({ name: toolName, result, media }) }),
    ...(error === null ? {} : { error: { code: error.code, message: error.message } }),
    ...(card === null ? {} : { card }),
    ...(outputSize === null ? {} : { outputSize: { lines: outputSize.lines, bytes: outputSize.bytes } }),
    ...(status === "waiting" ? { waiting: true } : {}),
    ...(media.length === 0 ? {} : { media: [...media] }),
  } satisfies StreamRecord
}

function actionToRecord(action: ActionRef): {
  readonly callId: string
  readonly name: string
  readonly item?: number | undefined
} {
  const { call_id: callId, ...named } = toActionRef(action)
  return { callId, ...named }
}
