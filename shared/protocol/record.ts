/**
 * record.ts: the stream-event records of a transcript, one JSON object a line: what an export writes and an import reads.
 *
 * Message → RECORDS → JSONL → RECORDS → events → fold → Message
 * The words are those of seed 001 §2, with `turnId` and `responseId` on all of them. A result holds data only; the tag
 * that it cued has a field of its own (law 5).
 * Pure.
 */

import * as v from "valibot"
import { extractResultData } from "./card-cue.ts"
import { approvalSchema, type Asset, assetSchema, channelSchema, idSchema, metricsSchema, sizeSchema } from "./event.ts"
import { isJsonObject } from "../json.ts"
import { type Fault, fail, type Result, succeed } from "../fault.ts"
import { MAX_RECORD_POS, MAX_RECORD_STEP } from "../limits.ts"
import { deriveContent, type Grants, isDeferred, isSettled, type Message, type Part, type ToolCall } from "./message.ts"

/** What any record may carry; other producers leave most of it out. */
const commonFields = {
  /** ISO 8601. */
  timestamp: v.optional(v.string()),
  sessionId: v.optional(v.string()),
  /** The exchange: a question, and all answers to it. */
  turnId: v.optional(v.string()),
  /** The message that it is about. */
  responseId: v.optional(v.string()),
  /** Model call of the turn, from 1. */
  step: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_RECORD_STEP))),
  /** Number of the record within its response, from 1: who sends it live can go on after a break, and nothing counts twice. */
  n: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(1))),
}

const positionSchema = v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(MAX_RECORD_POS))

/** Where a message of ours stands: its position never changes, and versions stand under the same parent. */
const placementFields = {
  pos: v.optional(positionSchema),
  parent: v.optional(v.nullable(positionSchema)),
  version: v.optional(positionSchema),
  /** Where the path below it ended when another version took its place. */
  tip: v.optional(positionSchema),
}

/** The other agent, and the exchange with it. */
const agentFields = {
  /** Nobody vouched for it when it came here: a seal of ours does not change that. */
  origin: v.optional(v.literal("import")),
  from: v.optional(v.string()),
  to: v.optional(v.string()),
  agentExchangeId: v.optional(v.string()),
}

const grantsSchema = v.object({
  origins: v.array(v.string()),
  replies: v.array(idSchema),
  assets: v.array(assetSchema),
})

const statusSchema = v.picklist(["running", "waiting", "completed", "cancelled", "interrupted", "failed"])

const recordSchema = v.variant("type", [
  v.object({
    type: v.literal("user_message"),
    ...commonFields,
    ...placementFields,
    text: v.string(),
    replyTo: v.optional(v.string()),
    attachments: v.optional(v.array(assetSchema)),
  }),
  /** A file of the session (`sessionId`), before the first message that needs it. Its bytes stand elsewhere. */
  v.object({ type: v.literal("asset"), ...commonFields, asset: assetSchema }),
  /** How an answer stands. Its `text` counts only where nothing of it streamed. */
  v.object({
    type: v.literal("assistant_message"),
    ...commonFields,
    ...placementFields,
    text: v.string(),
    status: v.optional(statusSchema),
    reason: v.optional(v.nullable(v.string())),
    metrics: v.optional(v.nullable(metricsSchema)),
    summary: v.optional(v.object({ text: v.string(), upto: v.number() })),
    replyTo: v.optional(v.string()),
    /** It was told from outside. */
    mode: v.optional(v.literal("external")),
    ...agentFields,
  }),
  v.object({ type: v.literal("text_delta"), ...commonFields, delta: v.string() }),
  /** The text is over. `cut`: its turn ended it from outside. */
  v.object({
    type: v.literal("text_done"),
    ...commonFields,
    text: v.optional(v.string()),
    cut: v.optional(v.boolean()),
    /** What its directives may name. */
    grants: v.optional(grantsSchema),
  }),
  v.object({ type: v.literal("thinking_start"), ...commonFields }),
  v.object({ type: v.literal("thinking_delta"), ...commonFields, delta: v.string() }),
  v.object({
    type: v.literal("thinking_done"),
    ...commonFields,
    text: v.optional(v.string()),
    ms: v.optional(v.number()),
  }),
  v.object({
    type: v.literal("tool_call"),
    ...commonFields,
    callId: v.string(),
    toolName: v.string(),
    arguments: v.optional(v.string(), "{}"),
  }),
  v.object({
    type: v.literal("tool_call_start"),
    ...commonFields,
    callId: v.string(),
    toolName: v.optional(v.string()),
    arguments: v.optional(v.string()),
    channel: v.optional(channelSchema),
    ordinal: v.optional(v.nullable(v.number())),
    ephemeral: v.optional(v.boolean()),
  }),
  v.object({ type: v.literal("tool_approval"), ...commonFields, callId: v.string(), approval: approvalSchema }),
  v.object({ type: v.literal("tool_output_delta"), ...commonFields, callId: v.string(), delta: v.string() }),
  v.object({
    type: v.literal("tool_result"),
    ...commonFields,
    callId: v.string(),
    toolName: v.optional(v.string()),
    ok: v.boolean(),
    /** Data: text, or any JSON. */
    result: v.optional(v.unknown()),
    error: v.optional(v.object({ code: v.string(), message: v.string() })),
    card: v.optional(v.nullable(v.string())),
    outputSize: v.optional(sizeSchema),
    /** This is what is said for now; the true one was still to come. */
    waiting: v.optional(v.boolean()),
    /** What it made for the reply. */
    media: v.optional(v.array(assetSchema)),
  }),
  v.object({ type: v.literal("output_cancelled"), ...commonFields }),
  /** What another agent asked of this one. */
  v.object({ type: v.literal("agent_message"), ...commonFields, ...placementFields, text: v.string(), ...agentFields }),
  /** What an agent that was asked asynchronously answered. */
  v.object({
    type: v.literal("agent_callback"),
    ...commonFields,
    ...placementFields,
    text: v.string(),
    callId: v.optional(v.string()),
    ...agentFields,
  }),
  /** The last line of an export: where its active path ends, and who vouches for all before it. */
  v.object({
    type: v.literal("signature"),
    ...commonFields,
    tip: v.nullable(positionSchema),
    title: v.string(),
    records: v.number(),
    algorithm: v.literal("HMAC-SHA256"),
    value: v.string(),
  }),
])

export type StreamRecord = v.InferOutput<typeof recordSchema>

/**
 * Reads one record from unknown data.
 *
 * Shapes  unknown → StreamRecord; fields that are not known are dropped.
 * Errors  `body_malformed` where it is no object, `field_invalid` with the field.
 */
export function parseRecord(value: unknown): Result<StreamRecord, Fault> {
  if (!isJsonObject(value)) return fail({ reason: "body_malformed" })
  const parsed = v.safeParse(recordSchema, value, { abortEarly: true })
  if (parsed.success) return succeed(parsed.output)
  return fail({ reason: "field_invalid", field: v.getDotPath(parsed.issues[0]) ?? "type" })
}

/** A message, and where it stands. */
export interface PlacedMessage {
  readonly pos: number
  readonly parent: number | null
  readonly tip: number | null
  readonly message: Message
}

/**
 * The records of one message, in the order in which an import reads them back to the same message.
 *
 * Cost    linear in the message.
 * Source  SPEC RE1, RE2.
 */
export function messageToRecords({ pos, parent, tip, message }: PlacedMessage, sessionId: string): StreamRecord[] {
  const { id, role, exchange_id, timestamp, version, reply_to } = message
  const base = { timestamp, sessionId, turnId: exchange_id, responseId: id }
  const placement = { pos, parent, ...(version > 1 ? { version } : {}), ...(tip === null ? {} : { tip }) }
  const reply = reply_to === null ? {} : { replyTo: reply_to }
  if (role === "agent") return [agentMessageToRecord(message, { ...base, ...placement })]
  if (role !== "assistant")
    return [
      { type: "user_message", ...base, ...placement, text: message.words, ...reply, ...attachmentsToFields(message) },
    ]
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

/** What is told of a file, with the message that needs it first. */
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
      // One that is open and was granted something is told as cut, which it will be where it is read.
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

function copyGrants({ origins, replies, assets }: Grants): v.InferOutput<typeof grantsSchema> {
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
    // The trailer stays home (law 5).
    ...(result === null ? {} : { result: extractResultData({ name: toolName, result, media }) }),
    ...(error === null ? {} : { error }),
    ...(card === null ? {} : { card }),
    ...(outputSize === null ? {} : { outputSize }),
    ...(status === "waiting" ? { waiting: true } : {}),
    ...(media.length === 0 ? {} : { media: [...media] }),
  } satisfies StreamRecord
}
