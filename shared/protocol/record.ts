/**
 * record.ts: the stream-event records of a transcript, and their parser. Exports, imports and producers use them.
 *
 * Message → RECORDS → JSONL → RECORDS → events → fold → Message
 * One JSON object per line. A tool result contains data only; the tag that it cued is in a separate field, so that the
 * trailer is never exported.
 */

import * as v from "valibot"
import { itemSchema } from "./cards/card-action.ts"
import { CARD_NAME } from "./cards/card-bounds.ts"
import {
  type Asset,
  approvalSchema,
  assetSchema,
  callMediaSchema,
  channelSchema,
  idSchema,
  metricsSchema,
  sizeSchema,
} from "./event.ts"
import { feedbackSchema } from "./writing/feedback.ts"
import { isJsonObject } from "../json.ts"
import { type Fault, fail, type Result, succeed } from "../fault.ts"
import { MAX_RECORD_POS, MAX_RECORD_STEP } from "../limits.ts"

/** Fields that any record may have. Records from other systems lack most of them. */
const commonFields = {
  /** ISO 8601. */
  timestamp: v.optional(v.string()),
  sessionId: v.optional(v.string()),
  /** The id of the exchange: a question and all answers to it. */
  turnId: v.optional(v.string()),
  /** The id of the message that the record belongs to. */
  responseId: v.optional(v.string()),
  /** The number of the model call within the turn, counted from 1. */
  step: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_RECORD_STEP))),
  /**
   * The number of the record within its response, counted from 1. After a lost connection, a producer can resend
   * records; no record is applied twice.
   */
  n: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(1))),
}

const ASSET_FIELDS = new Set(Object.keys(assetSchema.entries))

/** Keeps the order of the fields, so that an imported message's asset is exported as the same bytes. */
const recordAssetSchema = v.pipe(
  v.custom<Asset>((value) => v.is(assetSchema, value)),
  v.transform((asset) => {
    return Object.fromEntries(Object.entries(asset).filter(([name]) => ASSET_FIELDS.has(name))) as unknown as Asset
  }),
)

const positionSchema = v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(MAX_RECORD_POS))

/** The position in the message tree. A position never changes, and all versions of a message have the same parent. */
const placementFields = {
  pos: v.optional(positionSchema),
  parent: v.optional(v.nullable(positionSchema)),
  version: v.optional(positionSchema),
  /** The end of the path below this message at the time when the user switched to another version. */
  tip: v.optional(positionSchema),
}

/** The agent that sent a message. Records from other systems contain the ids of the agent and of its session. */
const senderFields = {
  from: v.optional(v.string()),
  fromAgentId: v.optional(v.string()),
  fromSessionId: v.optional(v.string()),
  agentExchangeId: v.optional(v.string()),
}

/** The other agent, and the exchange with it. */
const agentFields = {
  /** Set if the message came from an unverified import. A seal on the export does not make the message verified. */
  origin: v.optional(v.literal("import")),
  ...senderFields,
  to: v.optional(v.string()),
}

/** `audio` means spoken. A spoken message may have no text. */
const modalityFields = {
  modality: v.optional(v.picklist(["text", "audio", "both"])),
  /** The id of the recording in the system that wrote the record. */
  audioItemId: v.optional(v.string()),
}

/** The arguments, as JSON text or as a JSON value. */
const argumentsSchema = v.optional(
  v.pipe(
    v.unknown(),
    v.transform((args) => (typeof args === "string" ? args : (JSON.stringify(args ?? {}) ?? "{}"))),
  ),
)

/** Other systems write a call's arguments into either field. Use `readCallArguments` to read the arguments. */
const callArgumentFields = { arguments: argumentsSchema, argsJson: argumentsSchema }

const grantsSchema = v.object({
  origins: v.array(v.string()),
  replies: v.array(idSchema),
  assets: v.array(recordAssetSchema),
  canvases: v.optional(v.array(idSchema)),
})

const statusSchema = v.picklist(["running", "waiting", "completed", "cancelled", "interrupted", "failed"])

const recordSchema = v.variant("type", [
  v.object({
    type: v.literal("user_message"),
    ...commonFields,
    ...placementFields,
    ...senderFields,
    ...modalityFields,
    /** The id of the message, if there is no `responseId`. */
    messageId: v.optional(v.string()),
    text: v.optional(v.string()),
    replyTo: v.optional(v.string()),
    attachments: v.optional(v.array(recordAssetSchema)),
    /** The click on a card that the message represents. */
    cardAction: v.optional(
      v.object({ callId: v.string(), name: v.pipe(v.string(), v.regex(CARD_NAME)), item: v.optional(itemSchema) }),
    ),
  }),
  /**
   * The metadata of a file in session `sessionId`. This record precedes the first message that uses the file. The
   * file's content is not exported.
   */
  v.object({ type: v.literal("asset"), ...commonFields, asset: recordAssetSchema }),
  /** The state of an answer. `text` is the full answer, of which only the part that was not streamed is used. */
  v.object({
    type: v.literal("assistant_message"),
    ...commonFields,
    ...placementFields,
    ...modalityFields,
    text: v.optional(v.string()),
    /** All thinking of the answer, of which only the part that was not streamed is used. */
    thinkingText: v.optional(v.string()),
    /** Whether the answer was stopped before it was complete. `status` takes precedence. */
    interrupted: v.optional(v.boolean()),
    /** The number of milliseconds after which a spoken answer was stopped. */
    audioTruncatedAtMs: v.optional(v.number()),
    status: v.optional(statusSchema),
    /** When the answer began. `timestamp` is when it ended. */
    started: v.optional(v.string()),
    reason: v.optional(v.nullable(v.string())),
    metrics: v.optional(v.nullable(metricsSchema)),
    summary: v.optional(v.object({ text: v.string(), upto: v.number() })),
    replyTo: v.optional(v.string()),
    /** Set if the answer came from an external producer. */
    mode: v.optional(v.literal("external")),
    /** The owner's feedback on the answer. */
    feedback: v.optional(feedbackSchema),
    ...agentFields,
  }),
  v.object({ type: v.literal("text_delta"), ...commonFields, delta: v.string() }),
  /**
   * The text is complete. `text`: the text of the part or of the whole response. `cut`: the end of the turn cut the
   * text off.
   */
  v.object({
    type: v.literal("text_done"),
    ...commonFields,
    text: v.optional(v.string()),
    cut: v.optional(v.boolean()),
    /** The targets that the directives in the text may refer to. */
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
    ...callArgumentFields,
  }),
  v.object({
    type: v.literal("tool_call_start"),
    ...commonFields,
    callId: v.string(),
    toolName: v.optional(v.string()),
    ...callArgumentFields,
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
    /** The result's data: text, or any JSON value. */
    result: v.optional(v.unknown()),
    error: v.optional(v.object({ code: v.string(), message: v.string() })),
    card: v.optional(v.nullable(v.string())),
    outputSize: v.optional(sizeSchema),
    /** Whether the result is provisional, because the final one had not arrived. */
    waiting: v.optional(v.boolean()),
    /** Assets that the call stored for the answer. */
    media: v.optional(v.array(v.union([recordAssetSchema, callMediaSchema]))),
  }),
  v.object({ type: v.literal("output_cancelled"), ...commonFields }),
  /** A question from another agent. */
  v.object({ type: v.literal("agent_message"), ...commonFields, ...placementFields, text: v.string(), ...agentFields }),
  /** Another agent's answer to an asynchronous question. */
  v.object({
    type: v.literal("agent_callback"),
    ...commonFields,
    ...placementFields,
    text: v.string(),
    callId: v.optional(v.string()),
    ...agentFields,
  }),
  /** The last line of an export: the end of the active path, and the seal over all preceding lines. */
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
 * Parses one record. Unknown fields are dropped.
 *
 * Errors: `body_malformed` if the value is not an object, `field_invalid` with the path of the first invalid field.
 */
export function parseRecord(value: unknown): Result<StreamRecord, Fault> {
  if (!isJsonObject(value)) return fail({ reason: "body_malformed" })
  const parsed = v.safeParse(recordSchema, value, { abortEarly: true })
  if (parsed.success) return succeed(parsed.output)
  return fail({ reason: "field_invalid", field: v.getDotPath(parsed.issues[0]) ?? "type" })
}
