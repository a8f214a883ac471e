/**
 * row-codec.ts: the types of stored rows, and conversions from rows to messages, parts and calls.
 *
 * Column values are not validated, because only this folder writes them. No I/O.
 */

import type { CardAction } from "../../shared/protocol/cards/card-action.ts"
import type { AgentTag, Asset, CallMedia, CallError, Metrics } from "../../shared/protocol/event.ts"
import type { CallInput } from "../../shared/protocol/input/call-input.ts"
import type { Feedback } from "../../shared/protocol/writing/feedback.ts"
import type { Effort } from "../../shared/model-effort.ts"
import {
  type CallStatus,
  type Grants,
  isEnded,
  type Message,
  type MessageStatus,
  createMessage,
  type Part,
  type Role,
  type Summary,
  type ToolCall,
} from "../../shared/protocol/message.ts"
import type { PricedCall } from "../../shared/usage/call-usage.ts"
import type { PartTimes } from "../../shared/protocol/part-times.ts"
import { type AgentView, GENERAL_AGENT_NAME } from "../settings/agent-config.ts"
import type { SessionGroup } from "../platform/rpc/session-types.ts"
import type { Row } from "./database.ts"
import type { TextSize } from "../../shared/truncate.ts"
import { columnToText, parseJsonColumn, columnToNumberOrNull, columnToTextOrNull } from "./columns.ts"

export interface SessionRow {
  readonly id: string
  readonly tenant: string
  readonly user: string
  readonly title: string
  readonly epoch: string
  readonly tip: number | null
  readonly late_seq: number
  /** Ids of the newest version switches. */
  readonly switches: readonly string[]
  readonly created: number
  /** The agent that answers; null in sessions created before agents existed. */
  readonly agent: AgentView | null
  readonly family: SessionGroup
  /** When the session is erased, in milliseconds since 1970, if it is temporary; otherwise null. */
  readonly erasesAt: number | null
}

/** A session to be created. */
export interface NewSession extends Pick<SessionRow, "id" | "title" | "family"> {
  /** Name of the agent that answers. */
  readonly agent: string
  readonly isTemporary?: boolean
}

/** A message and its position in the transcript. `seq` is the seq of its last change. */
export interface StoredMessage {
  readonly pos: number
  readonly parent: number | null
  readonly seq: number
  /** The latest time at which a running or waiting turn ends, in milliseconds since 1970. */
  readonly deadline: number | null
  /** The position at which the path below this message ended when another version became active. */
  readonly tip?: number | null
  /** All model calls so far of a running turn. Not read for a message that has ended. */
  readonly usage?: readonly PricedCall[]
  readonly message: Message
}

export interface QueuedMessage {
  readonly n: number
  readonly seq: number
  readonly message: Message
}

/** A chunk of a part's text. `n` is its index in the part. */
export interface TextChunk {
  readonly part: number
  readonly n: number
  /** `output` is the output of the tool call at this part. */
  readonly kind: "text" | "thinking" | "output"
  readonly step: number
  readonly open: boolean
  readonly cut?: true
  /** Duration of thinking, in milliseconds. */
  readonly ms: number | null
  /** The state of `clean` as JSON, on the last chunk of an open part. */
  readonly held: string | null
  /** Grants of the part's directives, on the last chunk of a part. */
  readonly grants?: Grants
  /** Times of the part, on its last chunk. */
  readonly times?: PartTimes
  readonly text: string
}

/** The JSON of the `meta` column of `transcript` and `queue`. */
interface TranscriptMeta {
  readonly reply_to: string | null
  readonly mode: string
  readonly metrics: Metrics | null
  /** Omitted if empty. */
  readonly attachments?: readonly Asset[]
  readonly action?: CardAction
  readonly effort?: Effort
  readonly endedAt?: string
  readonly trace?: string
}

/** Values of the `open` column of `leaf`. A part is cut if its turn ended before the part was complete. */
const PART_CLOSED = 0
const PART_OPEN = 1
const PART_CUT = 2

export function chunkToOpenColumn({ open, cut }: Pick<TextChunk, "open" | "cut">): number {
  return cut === true ? PART_CUT : open ? PART_OPEN : PART_CLOSED
}

export function usageToColumn(usage: readonly PricedCall[] = []): string | null {
  return usage.length === 0 ? null : JSON.stringify(usage)
}

/** Returns the model calls of a running turn. The longest list is the newest. */
export function rowsToUsage(rows: readonly Row[]): readonly PricedCall[] {
  const states = rows.map((row) => parseJsonColumn<PricedCall[]>(row["usage"]) ?? [])
  return states.reduce((longest, state) => (state.length > longest.length ? state : longest), [])
}

export function rowToSeq(row: Row): number {
  return Number(row["seq"])
}

export function rowToRole(row: Row): Role {
  return columnToText(row["role"]) as Role
}

export function rowToSession(row: Row): SessionRow {
  const agent = parseJsonColumn<AgentView>(row["agent"])
  return {
    id: columnToText(row["id"]),
    tenant: columnToText(row["tenant"]),
    user: columnToText(row["user"]),
    title: columnToText(row["title"]),
    epoch: columnToText(row["epoch"]),
    tip: columnToNumberOrNull(row["tip"]),
    late_seq: Number(row["late_seq"]),
    switches: parseJsonColumn<string[]>(row["switches"]) ?? [],
    created: Number(row["created"]),
    erasesAt: columnToNumberOrNull(row["erases_at"]),
    agent,
    family: parseJsonColumn<SessionGroup>(row["family"]) ?? {
      session: columnToText(row["id"]),
      agent: agent?.self.name ?? GENERAL_AGENT_NAME,
    },
  }
}

export function rowToPosition(row: Row): Omit<StoredMessage, "message"> {
  return {
    pos: Number(row["pos"]),
    parent: columnToNumberOrNull(row["parent"]),
    seq: rowToSeq(row),
    deadline: columnToNumberOrNull(row["deadline"]),
    tip: columnToNumberOrNull(row["tip"]),
  }
}

export function messageToMeta(message: Message): string {
  const { reply_to, mode, metrics, attachments, action, effort, endedAt, trace } = message
  const files = attachments.length === 0 ? {} : { attachments }
  const ending = endedAt === undefined ? {} : { endedAt }
  const tracing = trace === undefined ? {} : { trace }
  const acting = action === undefined ? {} : { action }
  return JSON.stringify({
    reply_to,
    mode,
    metrics,
    ...files,
    ...acting,
    ...(effort && { effort }),
    ...ending,
    ...tracing,
  } satisfies TranscriptMeta)
}

/** Converts a row to a message without its parts. */
export function rowToMessageHead(row: Row, versions = 1): Message {
  const feedback = parseJsonColumn<Feedback>(row["feedback"])
  return createMessage({
    id: columnToText(row["id"]),
    role: rowToRole(row),
    exchange_id: columnToText(row["exchange_id"]),
    status: columnToText(row["status"]) as MessageStatus,
    reason: columnToTextOrNull(row["reason"]),
    words: columnToText(row["words"]),
    timestamp: new Date(Number(row["created"])).toISOString(),
    summary: parseJsonColumn<Summary>(row["summary"]),
    agent: parseJsonColumn<AgentTag>(row["agent"]),
    origin: row["origin"] === "import" ? "import" : null,
    version: columnToNumberOrNull(row["version"]) ?? 1,
    versions,
    ...(feedback === null ? {} : { feedback }),
    ...parseJsonColumn<TranscriptMeta>(row["meta"]),
  })
}

export function rowToQueuedMessage(row: Row): QueuedMessage {
  const id = columnToText(row["id"])
  const role: Role = row["agent"] === null ? "user" : "agent"
  const message = rowToMessageHead({ ...row, role, exchange_id: id, status: "queued", reason: null })
  return { n: Number(row["n"]), seq: rowToSeq(row), message }
}

/** The ancestors of a message: their number, the parent, and a far ancestor to jump to. */
export interface Ancestry {
  readonly pos: number
  readonly parent: number | null
  /** Number of ancestors. */
  readonly depth: number
  readonly jump: number | null
}

export function rowToAncestry(row: Row): Ancestry {
  const pos = Number(row["pos"])
  return {
    pos,
    parent: columnToNumberOrNull(row["parent"]),
    depth: Number(row["depth"]),
    jump: columnToNumberOrNull(row["jump"]),
  }
}

/** State of the newest answer, which is the only answer that can be running. */
export interface NewestAnswer {
  readonly status: MessageStatus
  readonly deadline: number | null
  /**
   * Whether an external producer is streaming the answer. False for an answer that has ended, because it has no
   * deadline.
   */
  readonly isExternal: boolean
}

export function rowToNewestAnswer(row: Row): NewestAnswer {
  const [status, deadline] = [columnToText(row["status"]) as MessageStatus, columnToNumberOrNull(row["deadline"])]
  return {
    status,
    deadline,
    isExternal: deadline !== null && parseJsonColumn<TranscriptMeta>(row["meta"])?.mode === "external",
  }
}

/** An answer of an external producer. */
export interface ExternalAnswer {
  readonly pos: number
  readonly exchange_id: string
  readonly status: MessageStatus
  readonly reason: string | null
  /** Number of the last accepted record. */
  readonly ackedRecord: number
}

export function rowToExternalAnswer(row: Row): ExternalAnswer {
  const status = columnToText(row["status"]) as MessageStatus
  const position = { pos: Number(row["pos"]), ackedRecord: Math.max(Number(row["told"]), 0) }
  return {
    ...position,
    exchange_id: columnToText(row["exchange_id"]),
    status,
    reason: columnToTextOrNull(row["reason"]),
  }
}

const ROLES: readonly Role[] = ["user", "assistant", "agent"]

/** Returns a number that identifies the versions of one message by their common parent and role. */
export function versionGroupKey(parent: number | null, role: Role): number {
  return (parent ?? 0) * ROLES.length + ROLES.indexOf(role)
}

/** Returns a withdrawn message as clients receive it: cancelled and empty. */
export function rowToWithdrawnMessage(row: Row): StoredMessage {
  const id = columnToText(row["id"])
  const timestamp = new Date(0).toISOString()
  const message = createMessage({ id, role: "user", exchange_id: id, status: "cancelled", timestamp })
  return { pos: 0, parent: null, seq: rowToSeq(row), deadline: null, message }
}

export function rowToChunk(row: Row): TextChunk {
  const grants = parseJsonColumn<Grants>(row["grants"])
  const times = parseJsonColumn<PartTimes>(row["times"])
  return {
    part: Number(row["part"]),
    n: Number(row["n"]),
    kind: columnToText(row["kind"]) as TextChunk["kind"],
    step: Number(row["step"]),
    open: row["open"] === PART_OPEN,
    ...(row["open"] === PART_CUT ? { cut: true } : {}),
    ms: columnToNumberOrNull(row["ms"]),
    held: columnToTextOrNull(row["held"]),
    ...(grants === null ? {} : { grants }),
    ...(times === null ? {} : { times }),
    text: columnToText(row["text"]),
  }
}

function rowToToolCall(row: Row, output: string): ToolCall {
  return {
    call_id: columnToText(row["call_id"]),
    name: columnToText(row["name"]),
    args: columnToText(row["args"]),
    status: columnToText(row["status"]) as CallStatus,
    ordinal: columnToNumberOrNull(row["ordinal"]),
    channel: columnToTextOrNull(row["channel"]) as ToolCall["channel"],
    card: columnToTextOrNull(row["card"]),
    output,
    result: columnToTextOrNull(row["result"]),
    error: parseJsonColumn<CallError>(row["error"]),
    approval: columnToTextOrNull(row["approval"]) as ToolCall["approval"],
    outputSize: parseJsonColumn<TextSize>(row["output_size"]),
    ephemeral: row["ephemeral"] === 1,
    media: parseJsonColumn<CallMedia[]>(row["media"]) ?? [],
  }
}

/**
 * Joins the rows of one message, ordered by part, into the message's parts. `findAsked` returns what a row's call asks
 * the user.
 */
export function rowsToParts(
  chunkRows: readonly Row[],
  callRows: readonly Row[],
  findAsked: (row: Row) => CallInput | null,
): Part[] {
  const parts: Part[] = []
  const outputs = new Map<number, string>()
  for (const chunk of chunkRows.map(rowToChunk)) {
    if (chunk.kind === "output") outputs.set(chunk.part, (outputs.get(chunk.part) ?? "") + chunk.text)
    else parts[chunk.part] = appendChunk(parts[chunk.part], chunk)
  }
  for (const row of callRows) {
    const part = Number(row["part"])
    const times = parseJsonColumn<PartTimes>(row["times"])
    const input = findAsked(row)
    const call = { ...rowToToolCall(row, outputs.get(part) ?? ""), ...(input !== null && { input }) }
    parts[part] = { type: "tool_call", step: Number(row["step"]), call, ...(times === null ? {} : { times }) }
  }
  return parts
}

/** Appends a chunk. `open`, `ms`, the times and the extras come from the last chunk. */
function appendChunk(part: Part | undefined, chunk: TextChunk): Part {
  const before = part === undefined || part.type === "tool_call" ? "" : part.text
  const { step, open, ms } = chunk
  const times = chunk.times === undefined ? {} : { times: chunk.times }
  return chunk.kind === "thinking"
    ? { type: "thinking", step, text: before + chunk.text, open, ms, ...times }
    : { type: "text", step, text: before + chunk.text, open, ...textPartExtras(chunk), ...times }
}

type TextPartExtras = Pick<TextChunk, "cut" | "grants">

/** Returns the optional fields of a text part, in the form that parts and chunks share. */
export function textPartExtras({ cut, grants }: TextPartExtras): TextPartExtras {
  return { ...(cut === true ? { cut } : {}), ...(grants === undefined ? {} : { grants }) }
}

/** Whether a message has ended. Late results can still change an ended message. */
export function isMessageSettled(stored: StoredMessage): boolean {
  return stored.message.role !== "assistant" || isEnded(stored.message.status)
}
