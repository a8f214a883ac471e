/**
 * event.ts: one thing that happened in a turn; the words of every producer.
 *
 * clean → EVENT → fold → store → segments
 * A model, an external agent and an import all come down to these (DESIGN §2).
 * Their text is clean already: `clean` stands before this door.
 * Pure.
 */

import * as v from "valibot"
import { type Fault, fail, type Result, succeed } from "../fault.ts"
import { MAX_ID_CHARS, MAX_SIDE } from "../limits.ts"

/** A public id: message, call, session, exchange. */
export const idSchema = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]+$/), v.maxLength(MAX_ID_CHARS))

/** Who dispatched a tool. Only `user` may cue a card (law 4). */
export const channelSchema = v.picklist(["user", "subagent", "agent", "external"])

/** Figures of a finished turn: wall milliseconds, model calls, and the provider's token counts where it tells them. */
export const metricsSchema = v.object({
  ms: v.number(),
  steps: v.number(),
  input_tokens: v.optional(v.number()),
  output_tokens: v.optional(v.number()),
})

const errorSchema = v.object({ code: v.string(), message: v.string() })

/** Where a call stands that has to be allowed by a person: nobody answered yet, or what they said. */
export const approvalSchema = v.picklist(["asked", "allowed", "denied"])

/** What an agent asked of this one, or answered it: the other's name, and the id that both sides know the exchange by. */
export const agentTagSchema = v.object({
  direction: v.picklist(["received", "sent"]),
  name: v.string(),
  exchange: idSchema,
  /** The call of this session that it answers, where it comes back late. */
  call_id: v.optional(idSchema),
})

/** Size of a text, in lines and UTF-8 bytes. */
export const sizeSchema = v.object({ lines: v.number(), bytes: v.number() })

const sideSchema = v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(MAX_SIDE))

/** A file that we keep: what is known of it beside its bytes. `canvas`: a document that is framed, never shown as a file. */
export const assetSchema = v.object({
  id: idSchema,
  kind: v.picklist(["image", "audio", "video", "file", "canvas"]),
  /** As its bytes say, never its name. */
  mime_type: v.string(),
  /** Its name, for people. */
  label: v.string(),
  /** Bytes. */
  size: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  /** It is audio that somebody says. */
  voice: v.optional(v.literal(true)),
  /** Pixels of a picture as it is shown, where its bytes say so. */
  width: v.optional(sideSchema),
  height: v.optional(sideSchema),
})

const eventSchema = v.variant("type", [
  /** A model call begins: what follows stands in parts of its own. */
  v.object({ type: v.literal("step_start") }),
  v.object({ type: v.literal("text_delta"), delta: v.string() }),
  v.object({ type: v.literal("text_done") }),
  v.object({ type: v.literal("thinking_delta"), delta: v.string() }),
  /** `ms`: how long it thought, where that was measured. */
  v.object({ type: v.literal("thinking_done"), ms: v.optional(v.number()) }),
  /** The model asked for a tool. `args` is the JSON text as the model wrote it. */
  v.object({ type: v.literal("tool_call"), call_id: idSchema, name: v.string(), args: v.string() }),
  /** The tool wants a person's leave before it runs, or got an answer. `denied` settles the call. */
  v.object({ type: v.literal("tool_approval"), call_id: idSchema, approval: approvalSchema }),
  /** It was dispatched. `ordinal` only on channel `user`. */
  v.object({
    type: v.literal("tool_call_start"),
    call_id: idSchema,
    channel: channelSchema,
    ordinal: v.nullable(v.number()),
    ephemeral: v.optional(v.boolean()),
  }),
  v.object({ type: v.literal("tool_output_delta"), call_id: idSchema, delta: v.string() }),
  /** It came back: the whole result, and the tag that it cued (decided once, at dispatch). */
  v.object({
    type: v.literal("tool_result"),
    call_id: idSchema,
    /** `waiting`: what is there so far; the true result comes later, from elsewhere, perhaps after the turn's end. */
    status: v.picklist(["ok", "failed", "interrupted", "waiting"]),
    result: v.nullable(v.string()),
    card: v.nullable(v.string()),
    error: v.nullable(errorSchema),
    /** True size of its output, where more came than is kept. */
    output_size: v.optional(sizeSchema),
    /** Assets that this very call stored and gives to the reply (decided once, at dispatch). */
    media: v.optional(v.array(assetSchema)),
  }),
  /** What stands before this turn in few words, for the model: everything up to the message at position `upto`. */
  v.object({ type: v.literal("summary"), text: v.string(), upto: v.number() }),
  v.object({
    type: v.literal("end"),
    status: v.picklist(["completed", "cancelled", "interrupted", "failed"]),
    reason: v.nullable(v.string()),
    metrics: v.nullable(metricsSchema),
  }),
])

export type TurnEvent = v.InferOutput<typeof eventSchema>
export type Channel = v.InferOutput<typeof channelSchema>
export type Metrics = v.InferOutput<typeof metricsSchema>
export type CallError = v.InferOutput<typeof errorSchema>
export type Approval = v.InferOutput<typeof approvalSchema>
export type AgentTag = v.InferOutput<typeof agentTagSchema>
export type Asset = v.InferOutput<typeof assetSchema>

/**
 * Reads one event from unknown data.
 *
 * Shapes  unknown → Result<TurnEvent>; unknown fields are dropped.
 * Errors  `field_invalid` with the path of the first bad field.
 * Cost    linear in the value.
 */
export function parseEvent(value: unknown): Result<TurnEvent, Fault> {
  const parsed = v.safeParse(eventSchema, value, { abortEarly: true })
  if (parsed.success) return succeed(parsed.output)
  return fail({ reason: "field_invalid", field: v.getDotPath(parsed.issues[0]) ?? "type" })
}
