/**
 * event.ts: the events of a turn, and their parser.
 *
 * clean → EVENT → fold → store → segments
 * Model calls, external producers and imports all produce these events. Their text is already sanitised.
 * Part of the wire format: a change to the shape needs a new PROTOCOL_VERSION (SPEC WS11).
 */

import * as v from "valibot"
import { MAX_SIDE } from "../asset-limits.ts"
import { type Fault, fail, type Result, succeed } from "../fault.ts"
import { MAX_ID_CHARS, MAX_URL_CHARS } from "../limits.ts"
import type { CallInput } from "./input/call-input.ts"

/** The public id of a message, call, session, asset or exchange. */
export const idSchema = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]+$/), v.maxLength(MAX_ID_CHARS))

/** Who dispatched a tool call. Only calls on channel `user` may cue a card. */
export const channelSchema = v.picklist(["user", "subagent", "agent", "external"])

/**
 * The metrics of a finished turn: its duration in milliseconds, the number of model calls, and token counts if the
 * provider reports them.
 */
export const metricsSchema = v.object({
  ms: v.number(),
  steps: v.number(),
  input_tokens: v.optional(v.number()),
  output_tokens: v.optional(v.number()),
})

const errorSchema = v.object({ code: v.string(), message: v.string() })

/** The state of the user's approval of a tool call: pending (`asked`), or the decision. */
export const approvalSchema = v.picklist(["asked", "allowed", "denied"])

/** Marks a message as part of an exchange with another agent. Both sessions use the same exchange id. */
export const agentTagSchema = v.object({
  direction: v.picklist(["received", "sent"]),
  name: v.string(),
  exchange: idSchema,
  /** The call in this session that the message answers, if the message arrived after the call's turn. */
  call_id: v.optional(idSchema),
})

/** The size of some text. `bytes` counts UTF-8. */
export const sizeSchema = v.object({ lines: v.number(), bytes: v.number() })

const sideSchema = v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(MAX_SIDE))

/** The metadata of a stored file. A `canvas` is a document that is shown in a frame, never as a file. */
export const assetSchema = v.object({
  id: idSchema,
  kind: v.picklist(["image", "audio", "video", "file", "canvas"]),
  /** Detected from the file's content, never from its name. */
  mime_type: v.string(),
  /** The file name, for display. */
  label: v.string(),
  /** The size in bytes. */
  size: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  /** Set on audio that is speech. */
  voice: v.optional(v.literal(true)),
  /** The display size of an image, in pixels, if the file states it. */
  width: v.optional(sideSchema),
  height: v.optional(sideSchema),
})

/** Public media that a tool's trailer names. */
export const publicMediaSchema = v.object({
  /** A normalised public `https:` URL. */
  url: v.pipe(v.string(), v.maxLength(MAX_URL_CHARS)),
  /** Set on audio that is speech. */
  voice: v.optional(v.literal(true)),
})

/** Media that a tool call adds to the answer. */
export const callMediaSchema = v.union([assetSchema, publicMediaSchema])

const eventSchema = v.variant("type", [
  /** A model call begins. Subsequent text and thinking go into new parts. */
  v.object({ type: v.literal("step_start") }),
  v.object({ type: v.literal("text_delta"), delta: v.string() }),
  v.object({ type: v.literal("text_done") }),
  v.object({ type: v.literal("thinking_delta"), delta: v.string() }),
  /** `ms`: the duration of the thinking, if it was measured. */
  v.object({ type: v.literal("thinking_done"), ms: v.optional(v.number()) }),
  /** The model requested a tool. `args` is JSON text exactly as the model wrote it. */
  v.object({ type: v.literal("tool_call"), call_id: idSchema, name: v.string(), args: v.string() }),
  /** The call needs the user's approval, or the user has decided. `denied` settles the call. */
  v.object({ type: v.literal("tool_approval"), call_id: idSchema, approval: approvalSchema }),
  /** The call was dispatched. Only calls on channel `user` have an ordinal. */
  v.object({
    type: v.literal("tool_call_start"),
    call_id: idSchema,
    channel: channelSchema,
    ordinal: v.nullable(v.number()),
    ephemeral: v.optional(v.boolean()),
  }),
  v.object({ type: v.literal("tool_output_delta"), call_id: idSchema, delta: v.string() }),
  /** The call returned. `result` is complete. `card` is the tag that the result cues, decided when the tool returns. */
  v.object({
    type: v.literal("tool_result"),
    call_id: idSchema,
    /** `waiting`: `result` is provisional, and the final one arrives later, possibly after the turn's end. */
    status: v.picklist(["ok", "failed", "interrupted", "waiting"]),
    result: v.nullable(v.string()),
    card: v.nullable(v.string()),
    error: v.nullable(errorSchema),
    /** The size of the whole output, if more was received than is stored. */
    output_size: v.optional(sizeSchema),
    /** Assets that this call stored for the answer, and public media. Decided when the tool returns. */
    media: v.optional(v.array(callMediaSchema)),
  }),
  /** A summary, for the model, of all messages up to position `upto`. */
  v.object({ type: v.literal("summary"), text: v.string(), upto: v.number() }),
  v.object({
    type: v.literal("end"),
    status: v.picklist(["completed", "cancelled", "interrupted", "failed"]),
    reason: v.nullable(v.string()),
    metrics: v.nullable(metricsSchema),
  }),
])

/**
 * A running call asks the user a question (SPEC MP30), or the user has answered (`input` is null). No record or
 * producer can cause this event.
 */
export interface InputEvent {
  readonly type: "tool_input"
  readonly call_id: string
  readonly input: CallInput | null
}

export type TurnEvent = v.InferOutput<typeof eventSchema> | InputEvent
export type Channel = v.InferOutput<typeof channelSchema>
export type Metrics = v.InferOutput<typeof metricsSchema>
export type CallError = v.InferOutput<typeof errorSchema>
export type Approval = v.InferOutput<typeof approvalSchema>
export type AgentTag = v.InferOutput<typeof agentTagSchema>
export type Asset = v.InferOutput<typeof assetSchema>
export type CallMedia = v.InferOutput<typeof callMediaSchema>

/**
 * Parses one event. Unknown fields are dropped.
 *
 * Errors: `field_invalid` with the path of the first invalid field. Cost: linear in the size of the value.
 */
export function parseEvent(value: unknown): Result<TurnEvent, Fault> {
  const parsed = v.safeParse(eventSchema, value, { abortEarly: true })
  if (parsed.success) return succeed(parsed.output)
  return fail({ reason: "field_invalid", field: v.getDotPath(parsed.issues[0]) ?? "type" })
}
