/**
 * frame.ts: the words of the wire, and what an op does to a list of segments.
 *
 * segments → ops → FRAME → client: apply(ops) → view
 * Both ends import it: the worker guards client frames on arrival, the page
 * guards server frames. Change a shape here and PROTOCOL_VERSION together.
 * Pure. A test locks the printed grammar to PROTOCOL_VERSION.
 */

import * as v from "valibot"
import { isJsonObject, type Json, parseJson } from "../json.ts"
import { type AgentTag, type Approval, type CallError, idSchema, type Metrics, type TextSize } from "./event.ts"
import { type Fault, type FaultReason, fail, type Result, succeed } from "../fault.ts"
import type { CallStatus, MessageStatus, Role } from "./message.ts"

/** What was left out of a shown text: its true size, in lines and UTF-8 bytes. */
export type Truncated = TextSize

/** What a person sees, derived, ordered (DESIGN §6). */
export type Segment =
  | { readonly type: "text"; readonly content: string }
  | {
      readonly type: "rich"
      readonly tag: string
      readonly payload: Json
      readonly synthesis: string
      readonly call_id?: string
    }
  | { readonly type: "thinking"; readonly content: string; readonly ms?: number }
  | {
      readonly type: "tool"
      readonly call_id: string
      readonly name: string
      readonly args: string
      readonly status: CallStatus
      readonly output?: string
      readonly result?: string
      readonly error?: CallError
      /** Where a person is (or was) asked: with status `waiting`, `asked` wants an answer. */
      readonly approval?: Approval
      readonly truncated?: Truncated
    }
  /** A document in a frame of its own: ours, or of an origin that the tenant allows. Height in CSS pixels. */
  | {
      readonly type: "canvas"
      readonly preview: {
        readonly kind: "canvas"
        readonly surface: "assistant_message"
        readonly render: "url"
        readonly viewId?: string
        readonly url: string
        readonly title?: string
        readonly preferredHeight?: number
      }
    }
  /** Its URL is a public https one or `/media/<id>`, never a signed one; `voice` is audio that is a voice note; of a picture of ours its sides are told. */
  | ({
      readonly type: "media"
      readonly url: string
      readonly kind: "image" | "audio" | "video" | "file"
      readonly label: string
      readonly mime_type?: string
      /** Bytes. */
      readonly size?: number
      readonly voice?: true
    } & { readonly [pixels in "width" | "height"]?: number })
  /** What another agent said to this one. */
  | ({ readonly type: "agent"; readonly content: string } & AgentTag)

/** Fields that a tool segment can gain after it was opened. */
export type ToolFields = Partial<Omit<Extract<Segment, { type: "tool" }>, "type" | "call_id" | "name" | "args">>

/** Fields that `set` merges, by segment type: a tool changes state, a thinking segment learns its duration, audio that it is a voice note; null removes one. */
export type SetFields =
  | { readonly [K in keyof ToolFields]: ToolFields[K] | null }
  | { readonly ms: number }
  | { readonly voice: true }

/** One change to a list of segments. `at` counts segments; `offset` counts UTF-16 code units. */
export type Op =
  | { readonly op: "open"; readonly at: number; readonly segment: Segment }
  | { readonly op: "text"; readonly at: number; readonly offset: number; readonly text: string }
  | { readonly op: "set"; readonly at: number; readonly fields: SetFields }
  | { readonly op: "cut"; readonly to: number }
  | {
      readonly op: "meta"
      readonly reply_to?: string
      readonly status?: MessageStatus
      readonly reason?: string
      readonly summary?: string
    }
  | {
      readonly op: "end"
      readonly status: MessageStatus
      readonly reason: string | null
      readonly metrics: Metrics | null
    }

/** One whole message as a client holds it: in a `message` frame and in a page of history. */
export interface WireMessage {
  readonly id: string
  readonly role: Role
  readonly exchange_id: string
  /** Derived Markdown for consumers that know no segments, as of this frame; ops do not move it. */
  readonly content: string
  readonly segments: readonly Segment[]
  readonly status: MessageStatus
  readonly reason: string | null
  readonly reply_to?: string
  readonly topic: string | null
  readonly mode: string
  readonly metrics: Metrics | null
  /** What the model was told instead of all that stands before this turn. */
  readonly summary?: string
  /** It was received from another agent; or (`sent`) it answers one, and goes back to it. */
  readonly agent?: AgentTag
  /** It came from a file that nobody vouches for: its cards say so (law 4). */
  readonly origin?: "import"
  /** Where there are several: which this is, from 1, and how many. */
  readonly version?: number
  readonly versions?: number
  readonly timestamp: string
}

/** A page of history: oldest message first; `seq` and `epoch` are where a socket resumes from it. */
export interface HistoryPage {
  readonly messages: readonly WireMessage[]
  readonly has_more: boolean
  /** `before` of the next older page; absent when there is none. */
  readonly cursor?: string
  readonly epoch: string
  readonly seq: number
}

/** A line of a file that could not be used. */
export interface BadLine {
  /** The part that it stands in, where the file came in several. */
  readonly part?: number
  readonly line: number
  readonly code: FaultReason
  readonly text: string
}

/** How the import of a session stands: `GET /v1/sessions/:id/import`, and the answer to every upload. */
export interface ImportProgress {
  /** `staging`: the file comes in; `folding`: it becomes the transcript, also if nobody waits; `done`: all of it is there; `failed`: it cannot be folded, nothing of it is kept. */
  readonly state: "none" | "staging" | "folding" | "done" | "failed"
  /** Records that have come in, and how many of them are in the transcript. */
  readonly records: number
  readonly folded: number
  /** The first of the lines that could not be used; `skipped` counts them all. */
  readonly bad: readonly BadLine[]
  readonly skipped: number
  /** Our own seal vouches for it; false also while that is not known yet. */
  readonly isSealed: boolean
  /** Where it comes in parts: how many, and which are still to come. */
  readonly parts?: { readonly of: number; readonly missing: readonly number[] }
}

/** What an upload is answered. */
export interface ImportAnswer extends ImportProgress {
  /** It was here before: nothing was added. */
  readonly duplicate: boolean
}

/** One line of the session list. `active` is milliseconds since 1970 of the last message. */
export interface SessionSummary {
  readonly id: string
  readonly title: string
  readonly created: number
  readonly active: number
  /** A model or its tools are at work there. */
  readonly running: boolean
  /** Which agent answers there, where it is not the general one. */
  readonly agent?: string
}

export type MessageFrame = {
  readonly type: "message"
  readonly seq: number
  readonly prev: number
  /** Set on the header of a message over MAX_SERVER_FRAME_BYTES: so many ops frames of the same seq bring its segments. */
  readonly pieces?: number
} & WireMessage

export interface OpsFrame {
  readonly type: "ops"
  readonly seq: number
  /** The seq last sent on, or resumed by, this very socket (law 6). */
  readonly prev: number
  /** Id of the message that changes. */
  readonly message: string
  readonly ops: readonly Op[]
  /** From 1: this frame brings a piece of the header before it; `seq` counts as reached with the last one. */
  readonly piece?: number
  /** How many pieces there are; also on a wide ops frame that goes in pieces without a header. */
  readonly pieces?: number
}

export type ServerFrame =
  | { readonly type: "hello"; readonly protocol: number; readonly epoch: string; readonly seq: number }
  | MessageFrame
  | OpsFrame
  | { readonly type: "ack"; readonly id: string; readonly seq: number }
  | { readonly type: "error"; readonly code: FaultReason; readonly text: string; readonly id?: string }

const seqSchema = v.pipe(v.number(), v.integer(), v.minValue(0))

const clientFrameSchema = v.variant("type", [
  v.object({
    type: v.literal("hello"),
    protocol: v.pipe(v.number(), v.integer()),
    epoch: v.optional(v.string()),
    after: v.optional(seqSchema),
    /** false: whole messages only, at their beginning and end. */
    live: v.boolean(),
  }),
  v.object({
    type: v.literal("send"),
    id: idSchema,
    content: v.string(),
    reply_to: v.optional(idSchema),
    attachments: v.optional(v.array(idSchema)),
  }),
  v.object({ type: v.literal("cancel"), exchange_id: idSchema }),
  v.object({ type: v.literal("approve"), call_id: idSchema, decision: v.picklist(["allow", "deny"]) }),
  v.object({ type: v.literal("withdraw"), id: idSchema, message: idSchema }),
  v.object({ type: v.literal("retry"), id: idSchema, message: idSchema }),
  v.object({ type: v.literal("regenerate"), id: idSchema, message: idSchema }),
  v.object({ type: v.literal("edit"), id: idSchema, message: idSchema, content: v.string() }),
  v.object({ type: v.literal("switch"), id: idSchema, message: idSchema, version: v.pipe(v.number(), v.integer()) }),
  v.object({ type: v.literal("seen"), seq: seqSchema }),
  v.object({ type: v.literal("ping") }),
])

export type ClientFrame = v.InferOutput<typeof clientFrameSchema>

/** The ping and its answer, byte for byte: the platform answers it without waking the object. */
export const PING_FRAME = '{"type":"ping"}'
export const PONG_FRAME = '{"type":"pong"}'

/**
 * Reads one client frame.
 *
 * Shapes  text → Result<ClientFrame>.
 * Errors  `frame_malformed`, `frame_unknown`, `frame_invalid` with the field. Size is checked before, by the socket.
 * Cost    linear in the text.
 * Source  SPEC WS3.
 */
export function parseClientFrame(text: string): Result<ClientFrame, Fault> {
  const value = parseJson(text)
  if (!isJsonObject(value)) return fail({ reason: "frame_malformed" })
  const type: unknown = Reflect.get(value, "type")
  if (typeof type !== "string") return fail({ reason: "frame_invalid", field: "type" })
  const isKnown = clientFrameSchema.options.some((option) => option.entries.type.literal === type)
  if (!isKnown) return fail({ reason: "frame_unknown", type: type.slice(0, 40) })
  const parsed = v.safeParse(clientFrameSchema, value, { abortEarly: true })
  if (parsed.success) return succeed(parsed.output)
  return fail({ reason: "frame_invalid", field: v.getDotPath(parsed.issues[0]) ?? "type" })
}

/**
 * Reads one server frame. The server is ours, so only what the client steers by is
 * checked; a frame of a kind that this client does not know is null and passed over.
 */
export function parseServerFrame(text: string): ServerFrame | null {
  const value = parseJson(text)
  if (!isJsonObject(value)) return null
  const frame = value as unknown as ServerFrame
  switch (frame.type) {
    case "hello":
      return typeof frame.epoch === "string" && typeof frame.seq === "number" ? frame : null
    case "message":
      return isNumbered(frame) && typeof frame.id === "string" && Array.isArray(frame.segments) ? frame : null
    case "ops":
      return isNumbered(frame) && typeof frame.message === "string" && Array.isArray(frame.ops) ? frame : null
    case "ack":
      return typeof frame.id === "string" ? frame : null
    case "error":
      return typeof frame.text === "string" ? frame : null
    default:
      return null
  }
}

function isNumbered(frame: { readonly seq: number; readonly prev: number }): boolean {
  return typeof frame.seq === "number" && typeof frame.prev === "number"
}

/**
 * What a list of segments is after some ops.
 *
 * Shapes  (Segment[], Op[]) → Segment[]; a new array, in which segments that did not change keep their identity.
 * Errors  throws `RangeError` for an op that does not fit (a wrong offset, a missing segment): the two ends are
 *         out of step, and a client resumes.
 * Cost    the number of segments plus the ops.
 * Source  SPEC WS6.
 */
export function apply(segments: readonly Segment[], ops: readonly Op[]): Segment[] {
  const next = [...segments]
  for (const op of ops) {
    switch (op.op) {
      case "open":
        if (op.at !== next.length) throw new RangeError(`open at ${op.at} of ${next.length}`)
        next.push(op.segment)
        break
      case "text":
        next[op.at] = appendText(next[op.at], op.offset, op.text)
        break
      case "set":
        next[op.at] = setFields(next[op.at], op.fields)
        break
      case "cut":
        if (op.to > next.length) throw new RangeError(`cut to ${op.to} of ${next.length}`)
        next.length = op.to
        break
      case "meta":
      case "end":
        break
    }
  }
  return next
}

/** A whole message after some ops: its segments, and what stands beside them. */
export function applyToMessage(message: WireMessage, ops: readonly Op[]): WireMessage {
  let next: WireMessage = { ...message, segments: apply(message.segments, ops) }
  for (const op of ops) {
    if (op.op === "meta") {
      const { op: _, ...fields } = op
      next = { ...next, ...fields }
    }
    if (op.op === "end") next = { ...next, status: op.status, reason: op.reason, metrics: op.metrics }
  }
  return next
}

/** The text of a segment that grows: what `text` appends to. */
export function readSegmentText(segment: Segment): string {
  switch (segment.type) {
    case "text":
    case "thinking":
    case "agent":
      return segment.content
    case "rich":
      return segment.synthesis
    case "tool":
      return segment.output ?? ""
    case "canvas":
    case "media":
      return ""
  }
}

function appendText(segment: Segment | undefined, offset: number, text: string): Segment {
  if (segment === undefined) throw new RangeError("text for a segment that is not there")
  const current = readSegmentText(segment)
  if (current.length !== offset) throw new RangeError(`text at ${offset} of ${current.length}`)
  switch (segment.type) {
    case "text":
    case "thinking":
    case "agent":
      return { ...segment, content: current + text }
    case "rich":
      return { ...segment, synthesis: current + text }
    case "tool":
      return { ...segment, output: current + text }
    case "canvas":
    case "media":
      throw new RangeError(`text for a ${segment.type} segment`)
  }
}

function setFields(segment: Segment | undefined, fields: SetFields): Segment {
  if (segment === undefined) throw new RangeError("set for a segment that is not there")
  // The server pairs fields and segment; both ends are compiled from this file.
  const merged = Object.entries({ ...segment, ...fields }).filter(([, value]) => value !== null)
  return Object.fromEntries(merged) as unknown as Segment
}
