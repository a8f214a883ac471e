/**
 * message.ts: a message, its parts, and how an event changes it.
 *
 * event → FOLD → store → segments
 * A live turn folds its events; history reads the same parts from the store. `fold` keeps the identity of unchanged
 * parts.
 */

import { fillCall, UNNAMED_TOOL } from "./calls/call-args.ts"
import { extractResultData } from "./card-cue.ts"
import type { CardAction } from "./cards/card-action.ts"
import type { AgentTag, Approval, Asset, CallError, CallMedia, Channel, Metrics, TurnEvent } from "./event.ts"
import type { CallInput } from "./input/call-input.ts"
import type { Feedback } from "./writing/feedback.ts"
import type { Effort } from "../model-effort.ts"
import type { TextSize } from "../truncate.ts"
import { turnFaultToText } from "../fault.ts"
import type { PartTimes } from "./part-times.ts"

export type Role = "user" | "assistant" | "agent"

export type MessageStatus = "queued" | "running" | "waiting" | "completed" | "cancelled" | "interrupted" | "failed"

export type CallStatus = "queued" | "running" | "waiting" | "ok" | "failed" | "interrupted"

/** A tool call. `result` is the full string with the instruction trailer, which is never sent to a client. */
export interface ToolCall {
  readonly call_id: string
  readonly name: string
  /** JSON text exactly as the model wrote it. */
  readonly args: string
  readonly status: CallStatus
  /** The call's number among the turn's calls to the same tool, counted from 1. Null unless the channel is `user`. */
  readonly ordinal: number | null
  readonly channel: Channel | null
  /** The tag that this call cued (`<name>_<ordinal>`), or null. Decided once, when the tool returns. */
  readonly card: string | null
  /** The tool's output while it was running. */
  readonly output: string
  readonly result: string | null
  readonly error: CallError | null
  /** Null if the call needs no approval. */
  readonly approval: Approval | null
  /** What the call asks the user. Absent unless the call is waiting for the answer. */
  readonly input?: CallInput
  /** The size of the whole output if more was received than is stored, otherwise null. */
  readonly outputSize: TextSize | null
  /** Whether the call is omitted from the context of later turns. Such a call is still shown. */
  readonly ephemeral: boolean
  /** Assets that the call stored for the answer, and public media that it names. */
  readonly media: readonly CallMedia[]
}

export type Part =
  | {
      readonly type: "thinking"
      readonly step: number
      readonly text: string
      readonly open: boolean
      readonly ms: number | null
      readonly times?: PartTimes
    }
  | {
      readonly type: "text"
      readonly step: number
      readonly text: string
      readonly open: boolean
      /** Set if the end of the turn cut the part off. A card that was open remains a card. */
      readonly cut?: true
      readonly grants?: Grants
      readonly times?: PartTimes
    }
  | { readonly type: "tool_call"; readonly step: number; readonly call: ToolCall; readonly times?: PartTimes }

/** What the directives of a part may refer to. Stored with the part, so that its segments depend on nothing else. */
export interface Grants {
  /** Origins of documents that may be framed, in addition to the deployment's own origin. */
  readonly origins: readonly string[]
  /** Ids of existing messages that the part refers to. */
  readonly replies: readonly string[]
  /** Existing assets that the part refers to. */
  readonly assets: readonly Asset[]
  /** Ids of existing documents that the part embeds. Undefined if none was looked up, as in version 0.1.0. */
  readonly canvases?: readonly string[] | undefined
}

/** Replaces all messages up to position `upto` in the model's context. The transcript keeps these messages. */
export interface Summary {
  readonly text: string
  readonly upto: number
}

export interface Message {
  readonly id: string
  readonly role: Role
  readonly exchange_id: string
  readonly status: MessageStatus
  readonly reason: string | null
  /** The text of a user or agent message, verbatim. Empty on assistant messages; see `deriveContent`. */
  readonly words: string
  readonly parts: readonly Part[]
  /** The number of the current model call, counted from 1; 0 before the first call. */
  readonly step: number
  readonly reply_to: string | null
  /** The files that the user attached, in order. */
  readonly attachments: readonly Asset[]
  /** The click on a card that a user's message represents. */
  readonly action?: CardAction
  /** The effort that the user chose, set on the user's message and its answers. Never sent to clients. */
  readonly effort?: Effort
  /** `external`: an external producer's answer. `spoken`: a spoken question, perhaps without text. Otherwise `chat`. */
  readonly mode: string
  readonly metrics: Metrics | null
  readonly summary: Summary | null
  /** Set on a message from another agent, and on the answer to it. */
  readonly agent: AgentTag | null
  /** `import`: the message comes from an unverified import. */
  readonly origin: "import" | null
  /** The number of this version, counted from 1, and the number of versions. */
  readonly version: number
  readonly versions: number
  /** When the message was accepted, in ISO 8601. */
  readonly timestamp: string
  /** When the answer ended, in ISO 8601. Absent if unknown. */
  readonly endedAt?: string
  /** The turn's id in log lines and spans. Absent on messages that were imported or written by version 0.1.0. */
  readonly trace?: string
  /** The owner's feedback on an answer. Never sent with the message. */
  readonly feedback?: Feedback
}

/** Creates a message without parts. */
export function createMessage(
  head: Pick<Message, "id" | "role" | "exchange_id" | "timestamp"> & Partial<Message>,
): Message {
  return {
    status: "running",
    reason: null,
    words: "",
    parts: [],
    step: 0,
    reply_to: null,
    attachments: [],
    mode: "chat",
    metrics: null,
    summary: null,
    agent: null,
    origin: null,
    version: 1,
    versions: 1,
    ...head,
  }
}

/**
 * Returns the message as one Markdown string that still contains span tags, for clients that do not render segments.
 * Never HTML.
 */
export function deriveContent(message: Message): string {
  if (message.role !== "assistant") return message.words
  const texts: string[] = []
  for (const part of message.parts) if (part.type === "text" && part.text !== "") texts.push(part.text)
  return texts.join("\n\n")
}

export function listCalls(message: Message): ToolCall[] {
  const calls: ToolCall[] = []
  for (const part of message.parts) if (part.type === "tool_call") calls.push(part.call)
  return calls
}

export function isEnded(status: MessageStatus): boolean {
  return status === "completed" || status === "cancelled" || status === "interrupted" || status === "failed"
}

export function isSettled(status: CallStatus): boolean {
  return status === "ok" || status === "failed" || status === "interrupted"
}

/** Returns whether a call has a provisional result and is awaiting its final one. The turn doesn't wait for it. */
export function isDeferred({ status, result }: Pick<ToolCall, "status" | "result">): boolean {
  return status === "waiting" && result !== null
}

/** Returns whether a call is waiting for the user's answer to its question, not for approval or its final result. */
export function isAsking({ status, approval, result }: Pick<ToolCall, "status" | "approval" | "result">): boolean {
  return status === "waiting" && approval !== "asked" && result === null
}

/** Returns the event that replaces a result over MAX_RESULT_BYTES. */
export function createTooLargeResult(call_id: string): Extract<TurnEvent, { type: "tool_result" }> {
  const error = { code: "tool_result_too_large", message: turnFaultToText("tool_result_too_large") }
  const result = JSON.stringify({ error: error.message })
  return { type: "tool_result", call_id, status: "failed", result, card: null, error }
}

/**
 * Applies an event to a message. Returns the same object if the event changes nothing, which is so for late text and
 * for a call's second result. Cost: linear in the number of parts and the length of the delta.
 */
export function fold(message: Message, event: TurnEvent): Message {
  if (isEnded(message.status) && event.type !== "tool_result") return message
  switch (event.type) {
    case "step_start":
      return { ...closeParts(message), step: message.step + 1 }
    case "text_delta":
    case "thinking_delta":
      return foldDelta(message, event.type === "text_delta" ? "text" : "thinking", event.delta)
    case "text_done":
      return closeParts(message)
    case "thinking_done":
      return closeParts(message, event.ms ?? null)
    case "tool_call":
      return foldToolCall(message, event)
    case "tool_approval":
      return settleStatus(changeOpenCall(message, event.call_id, (call) => approveCall(call, event.approval)))
    case "tool_input":
      return settleStatus(changeOpenCall(message, event.call_id, (call) => changeInput(call, event.input)))
    case "tool_call_start":
      return foldCallStart(message, event)
    case "tool_output_delta":
      return changeOpenCall(message, event.call_id, (call) => ({ ...call, output: call.output + event.delta }))
    case "tool_result":
      return settleStatus(foldToolResult(message, event))
    case "summary":
      return { ...message, summary: { text: event.text, upto: event.upto } }
    case "end":
      return foldEnd(message, event)
  }
}

/** Appends a delta. Even an empty one opens a part, because the sanitiser may be holding back the first text. */
function foldDelta(message: Message, type: "text" | "thinking", delta: string): Message {
  const last = message.parts.at(-1)
  if (last !== undefined && last.type === type && last.open) {
    if (delta === "") return message
    return { ...message, parts: message.parts.with(-1, { ...last, text: last.text + delta }) }
  }
  const closed = closeParts(message)
  const part: Part =
    type === "text"
      ? { type, step: closed.step, text: delta, open: true }
      : { type, step: closed.step, text: delta, open: true, ms: null }
  return { ...closed, parts: [...closed.parts, part] }
}

/** Closes the open part, which can only be the last one. */
function closeParts(message: Message, ms: number | null = null): Message {
  const last = message.parts.at(-1)
  if (last === undefined || last.type === "tool_call" || !last.open) return message
  const closed: Part = last.type === "thinking" ? { ...last, open: false, ms: ms ?? last.ms } : { ...last, open: false }
  return { ...message, parts: message.parts.with(-1, closed) }
}

function cutParts(message: Message): Message {
  const last = message.parts.at(-1)
  if (last?.type !== "text" || !last.open) return closeParts(message)
  return { ...message, parts: message.parts.with(-1, { ...last, open: false, cut: true }) }
}

/** Adds a call, or what a second event adds to it: an external producer may report a call before its arguments. */
function foldToolCall(message: Message, event: Extract<TurnEvent, { type: "tool_call" }>): Message {
  if (findCallIndex(message, event.call_id) >= 0) {
    return changeCall(message, event.call_id, (call) => (call.channel === "external" ? fillCall(call, event) : call))
  }
  return addCall(closeParts(message), createCall(event.call_id, event.name, event.args))
}

function foldCallStart(message: Message, event: Extract<TurnEvent, { type: "tool_call_start" }>): Message {
  const { channel, ordinal, ephemeral = false } = event
  // The output is reset, because a call that is run again repeats its output.
  const startCall = (call: ToolCall): ToolCall => {
    return { ...call, status: "running", channel, ordinal, ephemeral, output: "" }
  }
  return settleStatus(changeOpenCall(message, event.call_id, startCall))
}

function foldToolResult(message: Message, event: Extract<TurnEvent, { type: "tool_result" }>): Message {
  const { status, result, error, output_size: outputSize = null, media = [] } = event
  const at = findCallIndex(message, event.call_id)
  if (at >= 0) {
    // An answer that has ended cannot show any more files.
    const isOver = isEnded(message.status) && media.length > 0
    return changeOpenCall(message, event.call_id, (call) => ({
      ...call,
      status,
      result: isOver && result !== null ? extractResultData({ name: call.name, result, media }) : result,
      // A tag is resolved when its text is written, so a result cues nothing if a later part already has a span tag.
      card: event.card === null || hasSpanAfter(message, at) ? null : event.card,
      error,
      outputSize,
      media: isOver ? [] : media,
    }))
  }
  if (isEnded(message.status)) return message
  // A result without a call is shown as a separate call and cues nothing.
  return addCall(closeParts(message), { ...createCall(event.call_id, UNNAMED_TOOL, "{}"), status, result, error })
}

function hasSpanAfter({ parts }: Message, at: number): boolean {
  return parts.slice(at + 1).some((part) => part.type === "text" && part.text.includes("<span"))
}

function foldEnd(message: Message, event: Extract<TurnEvent, { type: "end" }>): Message {
  const isComplete = event.status === "completed"
  const closed = isComplete ? closeParts(message) : cutParts(message)
  // A completed turn may leave asynchronous calls waiting. Any other end interrupts all open calls.
  const parts = isComplete ? closed.parts : closed.parts.map(interruptPart)
  return { ...closed, parts, status: event.status, reason: event.reason, metrics: event.metrics }
}

/** Interrupts the call of a part if it is not settled. */
export function interruptPart(part: Part): Part {
  if (part.type !== "tool_call" || isSettled(part.call.status)) return part
  const error = { code: "tool_interrupted", message: "The tool was interrupted." }
  return { ...part, call: { ...part.call, status: "interrupted", error } }
}

function createCall(call_id: string, name: string, args: string): ToolCall {
  return {
    call_id,
    name,
    args,
    status: "queued",
    ordinal: null,
    channel: null,
    card: null,
    output: "",
    result: null,
    error: null,
    approval: null,
    outputSize: null,
    ephemeral: false,
    media: [],
  }
}

function addCall(message: Message, call: ToolCall): Message {
  return { ...message, parts: [...message.parts, { type: "tool_call", step: message.step, call }] }
}

/** Returns the index of a call's part, or -1. Searches from the end: most events are about one of the last calls. */
function findCallIndex(message: Message, call_id: string): number {
  for (let i = message.parts.length - 1; i >= 0; i--) {
    const part = message.parts[i]
    if (part?.type === "tool_call" && part.call.call_id === call_id) return i
  }
  return -1
}

/** Applies an approval event. A decision counts only while the approval is pending. */
function approveCall(call: ToolCall, approval: Approval): ToolCall {
  if (approval === "asked")
    return call.status === "queued" && call.approval === null ? { ...call, status: "waiting", approval } : call
  if (call.approval !== "asked") return call
  if (approval === "allowed") return { ...call, status: "queued", approval }
  const error = { code: "denied", message: turnFaultToText("denied") }
  return { ...call, status: "failed", approval, error, result: JSON.stringify({ error: error.message }) }
}

/**
 * Sets what a call asks the user. A call may ask while it is running or already asking; an answered call is run again.
 */
function changeInput(call: ToolCall, input: CallInput | null): ToolCall {
  if (input !== null) return call.status === "running" || isAsking(call) ? { ...call, status: "waiting", input } : call
  const { input: _answered, ...rest } = call
  return isAsking(call) ? { ...rest, status: "queued" } : call
}

/** Sets the status to `waiting` while a call is waiting for the user or another agent and no other call is active. */
function settleStatus(message: Message): Message {
  if (isEnded(message.status)) return message
  const status = isBlocked(message) ? "waiting" : "running"
  return message.status === status ? message : { ...message, status }
}

/** Returns whether the message is `waiting`. Runs for every event of a call, so it creates no lists. */
function isBlocked({ parts }: Message): boolean {
  let hasWaiting = false
  for (const part of parts) {
    if (part.type !== "tool_call") continue
    const { call } = part
    if (call.status === "running" || call.status === "queued") return false
    hasWaiting ||= call.status === "waiting" && !isDeferred(call)
  }
  return hasWaiting
}

/** Changes a call unless the call is settled. */
function changeOpenCall(message: Message, call_id: string, change: (call: ToolCall) => ToolCall): Message {
  return changeCall(message, call_id, (call) => (isSettled(call.status) ? call : change(call)))
}

function changeCall(message: Message, call_id: string, change: (call: ToolCall) => ToolCall): Message {
  const at = findCallIndex(message, call_id)
  const part = message.parts[at]
  if (part?.type !== "tool_call") return message
  const call = change(part.call)
  return call === part.call ? message : { ...message, parts: message.parts.with(at, { ...part, call }) }
}
