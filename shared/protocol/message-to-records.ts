/**
 * message-to-records.ts: converts a message to the records that an export writes.
 *
 * Message → RECORDS → JSONL
 */

import { extractResultData } from "./card-cue.ts"
import type { Asset } from "./event.ts"
import { deriveContent, type Grants, isDeferred, isSettled, type Message, type Part, type ToolCall } from "./message.ts"
import type { StreamRecord } from "./record.ts"

/** A message and its position in the tree. */
export interface PlacedMessage {
  readonly pos: number
  readonly parent: number | null
  readonly tip: number | null
  readonly message: Message
}

/** The records of one message. Importing them in this order recreates the message. Linear in the message. SPEC RE1, RE2. */
export function messageToRecords({ pos, parent, tip, message }: PlacedMessage, sessionId: string): StreamRecord[] {
  const { id, role, exchange_id, timestamp, version, reply_to } = message
  const base = { timestamp, sessionId, turnId: exchange_id, responseId: id }
  const placement = { pos, parent, ...(version > 1 ? { version } : {}), ...(tip === null ? {} : { tip }) }
  const reply = reply_to === null ? {} : { replyTo: reply_to }
  if (role === "agent") return [agentMessageToRecord(message, { ...base, ...placement })]
  if (role !== "assistant") {
    const modality = message.mode === "spoken" ? { modality: "audio" as const } : {}
    const text = { text: message.words, ...modality }
    return [{ type: "user_message", ...base, ...placement, ...text, ...reply, ...attachmentsToFields(message) }]
  }
  const { status, reason, metrics, summary } = message
  const optionalFields = {
    ...(summary === null ? {} : { summary }),
    ...(message.origin === null ? {} : { origin: message.origin }),
    ...(message.mode === "external" ? { mode: "external" as const } : {}),
    ...(message.agent === null ? {} : { to: message.agent.name, agentExchangeId: message.agent.exchange }),
  }
  const shownStatus = status === "queued" ? "running" : status
  return [
    ...message.parts.flatMap((part) => partToRecords(part, { ...base, step: part.step })),
    ...(status === "cancelled" ? [{ type: "output_cancelled" as const, ...base }] : []),
    {
      type: "assistant_message",
      ...base,
      ...placement,
      text: deriveContent(message),
      status: shownStatus,
      reason,
      metrics,
      ...optionalFields,
      ...reply,
    },
  ]
}

function attachmentsToFields({ attachments }: Message): { readonly attachments?: Asset[] } {
  return attachments.length === 0 ? {} : { attachments: [...attachments] }
}

/** The record of an asset. `message` is the first message that uses it. */
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

type RecordBase = Pick<StreamRecord, "timestamp" | "sessionId" | "turnId" | "responseId" | "step">

function partToRecords(part: Part, base: RecordBase): StreamRecord[] {
  switch (part.type) {
    case "thinking": {
      const ms = part.ms === null ? {} : { ms: part.ms }
      return [
        { type: "thinking_start", ...base },
        { type: "thinking_delta", ...base, delta: part.text },
        ...(part.open ? [] : [{ type: "thinking_done" as const, ...base, text: part.text, ...ms }]),
      ]
    }
    case "text": {
      // An open text with grants is exported as cut, because grants are a field of `text_done`.
      const hasEnd = part.open ? part.grants !== undefined : true
      const cut = part.cut === true || part.open ? { cut: true } : {}
      const grants = part.grants === undefined ? {} : { grants: copyGrants(part.grants) }
      return [
        { type: "text_delta", ...base, delta: part.text },
        ...(hasEnd ? [{ type: "text_done" as const, ...base, text: part.text, ...cut, ...grants }] : []),
      ]
    }
    case "tool_call":
      return callToRecords(part.call, base)
  }
}

function copyGrants({ origins, replies, assets }: Grants) {
  return { origins: [...origins], replies: [...replies], assets: [...assets] }
}

function callToRecords(call: ToolCall, base: RecordBase): StreamRecord[] {
  const { call_id: callId, name: toolName, args, channel, ordinal, ephemeral, approval, output } = call
  const records: StreamRecord[] = [{ type: "tool_call", ...base, callId, toolName, arguments: args }]
  if (approval !== null) records.push({ type: "tool_approval", ...base, callId, approval: "asked" })
  if (approval !== null && approval !== "asked") records.push({ type: "tool_approval", ...base, callId, approval })
  if (channel !== null) {
    const start = { callId, toolName, arguments: args, channel, ordinal, ...(ephemeral ? { ephemeral } : {}) }
    records.push({ type: "tool_call_start", ...base, ...start })
  }
  if (output !== "") records.push({ type: "tool_output_delta", ...base, callId, delta: output })
  if (isSettled(call.status) || isDeferred(call)) records.push(resultToRecord(call, base))
  return records
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
    ...(error === null ? {} : { error }),
    ...(card === null ? {} : { card }),
    ...(outputSize === null ? {} : { outputSize }),
    ...(status === "waiting" ? { waiting: true } : {}),
    ...(media.length === 0 ? {} : { media: [...media] }),
  } satisfies StreamRecord
}
