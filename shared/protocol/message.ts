/**
 * message.ts: a message, its parts, and how an event changes it.
 *
 * event → FOLD → store → FOLD → segments
 * The live path folds events as they come; the history path reads the same
 * parts from the store. Array position is order (DESIGN §7).
 * Pure. `fold` gives a new message; parts that did not change keep their identity.
 */

import { extractResultData } from "./card-cue.ts"
import type { AgentTag, Approval, Asset, CallError, Channel, Metrics, TurnEvent } from "./event.ts"
import type { TextSize } from "../truncate.ts"
import { turnFaultToText } from "../fault.ts"

export type Role = "user" | "assistant" | "agent"

export type MessageStatus = "queued" | "running" | "waiting" | "completed" | "cancelled" | "interrupted" | "failed"

export type CallStatus = "queued" | "running" | "waiting" | "ok" | "failed" | "interrupted"

/** A tool call: one row. `result` is the tool's full string, trailer and all; it never reaches a client whole (law 5). */
export interface ToolCall {
  readonly call_id: string
  readonly name: string
  /** JSON text as the model wrote it. */
  readonly args: string
  readonly status: CallStatus
  /** Per turn and tool, from 1; null off channel `user`. */
  readonly ordinal: number | null
  readonly channel: Channel | null
  /** The tag this call cued (`<name>_<ordinal>`), or null. Decided once, at dispatch (law 4). */
  readonly card: string | null
  /** What the tool said while it ran. */
  readonly output: string
  readonly result: string | null
  readonly error: CallError | null
  /** Null where nobody has to be asked. */
  readonly approval: Approval | null
  /** True size of `output`, where more came than is kept; else null. */
  readonly outputSize: TextSize | null
  /** Always rendered; only left out of the model's later context. */
  readonly ephemeral: boolean
  /** What it stored for the reply. */
  readonly media: readonly Asset[]
}

export type Part =
  | {
      readonly type: "thinking"
      readonly step: number
      readonly text: string
      readonly open: boolean
      readonly ms: number | null
    }
  | {
      readonly type: "text"
      readonly step: number
      readonly text: string
      readonly open: boolean
      /** It was not finished but ended with its turn, from outside: a card that stood open stays one (law 7). */
      readonly cut?: true
      readonly grants?: Grants
    }
  | { readonly type: "tool_call"; readonly step: number; readonly call: ToolCall }

/** What directives of a part may name; decided before `fold` and stored with the part, so that segments stay a function of it. */
export interface Grants {
  /** Origins that may be framed beside our own canvas. */
  readonly origins: readonly string[]
  /** Messages of the session, of those that the part names. */
  readonly replies: readonly string[]
  /** Assets of the session, of those that the part names. */
  readonly assets: readonly Asset[]
}

/** What the model is told instead of the messages up to position `upto`; the transcript itself keeps them. */
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
  /** A user's words, verbatim. Empty on assistant messages, whose `content` is derived: `contentOf`. */
  readonly words: string
  readonly parts: readonly Part[]
  /** Model call that the next part belongs to, from 1; 0 before the first. */
  readonly step: number
  readonly reply_to: string | null
  /** What a person sent along, in their order. */
  readonly attachments: readonly Asset[]
  readonly topic: string | null
  readonly mode: string
  readonly metrics: Metrics | null
  readonly summary: Summary | null
  /** Set on what another agent said here, and on the answer that goes back to it. */
  readonly agent: AgentTag | null
  /** `import`: nobody vouches for what it shows (law 4). */
  readonly origin: "import" | null
  /** Which of its versions this is, from 1, and how many there are. */
  readonly version: number
  readonly versions: number
  /** ISO 8601, when the message was accepted. */
  readonly timestamp: string
}

/** A message before anything happened in it. */
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
    topic: null,
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

/** The words as one Markdown string, spans kept: derived, for consumers that know no segments. Never HTML. */
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

/** It has its answer for now, and the true one comes later, from elsewhere: its turn need not wait for it. */
export function isDeferred({ status, result }: Pick<ToolCall, "status" | "result">): boolean {
  return status === "waiting" && result !== null
}

/** Instead of a result that cannot be kept. */
export function createTooLargeResult(call_id: string): Extract<TurnEvent, { type: "tool_result" }> {
  const error = { code: "tool_result_too_large", message: turnFaultToText("tool_result_too_large") }
  const result = JSON.stringify({ error: error.message })
  return { type: "tool_result", call_id, status: "failed", result, card: null, error }
}

/**
 * What a message is after one more event.
 *
 * Shapes  (Message, TurnEvent) → Message; the same object where the event changes nothing.
 * Errors  none. Late text, a second result for a call and anything else that no longer fits changes nothing.
 * Cost    the number of parts, plus the delta.
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
    case "tool_call_start": {
      const { channel, ordinal, ephemeral = false } = event
      return settleStatus(
        // A call that runs again says again what it says.
        changeOpenCall(message, event.call_id, (call) => {
          return { ...call, status: "running", channel, ordinal, ephemeral, output: "" }
        }),
      )
    }
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

/** An empty delta opens a part all the same: `clean` may still hold its first text back. */
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

/** Only the last part can be open. */
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

function foldToolCall(message: Message, event: Extract<TurnEvent, { type: "tool_call" }>): Message {
  if (findCallIndex(message, event.call_id) >= 0) return message
  return addCall(closeParts(message), createCall(event.call_id, event.name, event.args))
}

function foldToolResult(message: Message, event: Extract<TurnEvent, { type: "tool_result" }>): Message {
  const { status, result, error, output_size: outputSize = null, media = [] } = event
  const at = findCallIndex(message, event.call_id)
  if (at >= 0) {
    // A tag is cued by what stood there when it was written: a result that comes after later text cues nothing.
    const isLate = message.parts.slice(at + 1).some((part) => part.type === "text" && part.text.includes("<span"))
    const card = isLate ? null : event.card
    // What is delivered stands with its end: a file that comes after it has no place any more, nor who names it.
    const isOver = isEnded(message.status) && media.length > 0
    return changeOpenCall(message, event.call_id, (call) => ({
      ...call,
      status,
      result: isOver && result !== null ? extractResultData({ name: call.name, result, media }) : result,
      card,
      error,
      outputSize,
      media: isOver ? [] : media,
    }))
  }
  if (isEnded(message.status)) return message
  // A result whose call never came is shown on its own; it can cue nothing.
  return addCall(closeParts(message), { ...createCall(event.call_id, "tool", "{}"), status, result, error })
}

function foldEnd(message: Message, event: Extract<TurnEvent, { type: "end" }>): Message {
  const isComplete = event.status === "completed"
  const closed = isComplete ? closeParts(message) : cutParts(message)
  // A completed turn may leave an asynchronous call waiting; any other end takes its open calls with it (law 7).
  const parts = isComplete ? closed.parts : closed.parts.map(interruptPart)
  return { ...closed, parts, status: event.status, reason: event.reason, metrics: event.metrics }
}

function interruptPart(part: Part): Part {
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

/** Newest first: the call that an event is about is nearly always among the last. */
function findCallIndex(message: Message, call_id: string): number {
  for (let i = message.parts.length - 1; i >= 0; i--) {
    const part = message.parts[i]
    if (part?.type === "tool_call" && part.call.call_id === call_id) return i
  }
  return -1
}

/** Only a decision that is still open can be made; a call that is settled or runs takes none. */
function approveCall(call: ToolCall, approval: Approval): ToolCall {
  if (approval === "asked")
    return call.status === "queued" && call.approval === null ? { ...call, status: "waiting", approval } : call
  if (call.approval !== "asked") return call
  if (approval === "allowed") return { ...call, status: "queued", approval }
  const error = { code: "denied", message: turnFaultToText("denied") }
  return { ...call, status: "failed", approval, error, result: JSON.stringify({ error: error.message }) }
}

/** A message waits while somebody has to answer and nothing else of it goes on. */
function settleStatus(message: Message): Message {
  if (isEnded(message.status)) return message
  const calls = listCalls(message)
  const isBlocked = calls.some((call) => call.status === "waiting" && !isDeferred(call))
  const isActive = calls.some((call) => call.status === "running" || call.status === "queued")
  const status = isBlocked && !isActive ? "waiting" : "running"
  return message.status === status ? message : { ...message, status }
}

/** Changes a call that is not settled yet; what comes after that changes nothing. */
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
