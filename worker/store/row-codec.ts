/**
 * row-codec.ts: what a session's rows hold, and how they become messages, parts and calls.
 *
 * SQL row → ROWS → Message
 * Our own rows: their shapes are what store.ts put there. No I/O.
 */

import type { AgentTag, Asset, CallError, Metrics } from "../../shared/protocol/event.ts"
import type { TextSize } from "../../shared/truncate.ts"
import { parseJson } from "../../shared/json.ts"
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

import { type AgentView, GENERAL_AGENT_NAME } from "../tenant/agent-config.ts"
import type { SessionGroup } from "../platform/rpc/session-types.ts"

export type Row = Record<string, SqlStorageValue>

export interface SessionRow {
  readonly id: string
  readonly tenant: string
  readonly user: string
  readonly title: string
  readonly epoch: string
  readonly tip: number | null
  readonly late_seq: number
  /** Ids of the newest switches. */
  readonly switches: readonly string[]
  readonly created: number
  /** Who answers here; null: it was made before there were several. */
  readonly agent: AgentView | null
  readonly family: SessionGroup
}

/** A session that is to be made. */
export interface NewSession extends Pick<SessionRow, "id" | "title" | "family"> {
  /** Name of the one who answers in it. */
  readonly agent: string
}

/** A message and where it stands. `seq` is that of its last change. */
export interface StoredMessage {
  readonly pos: number
  readonly parent: number | null
  readonly seq: number
  /** When a turn that runs or waits is over at the latest, in milliseconds since 1970. */
  readonly deadline: number | null
  /** Where the path below it ended when another version took its place. */
  readonly tip?: number | null
  readonly message: Message
}

export interface QueuedMessage {
  readonly n: number
  readonly seq: number
  readonly message: Message
}

export interface TextChunk {
  readonly part: number
  readonly n: number
  readonly kind: "text" | "thinking" | "output"
  readonly step: number
  readonly open: boolean
  readonly cut?: true
  readonly ms: number | null
  /** JSON of what clean had not settled, on the last leaf of an open part. */
  readonly held: string | null
  /** What its directives were granted, on the last leaf of a part. */
  readonly grants?: Grants
  readonly text: string
}

/** What stands in a transcript row's `meta`. */
interface TranscriptMeta {
  readonly reply_to: string | null
  readonly topic: string | null
  readonly mode: string
  readonly metrics: Metrics | null
  /** Only where there are some. */
  readonly attachments?: readonly Asset[]
}

/** What stands in a leaf's `open`: its part is finished, goes on, or was ended from outside. */
const PART_CLOSED = 0
const PART_OPEN = 1
const PART_CUT = 2

export function chunkToOpenColumn({ open, cut }: Pick<TextChunk, "open" | "cut">): number {
  return cut === true ? PART_CUT : open ? PART_OPEN : PART_CLOSED
}

export function rowToSeq(row: Row): number {
  return Number(row["seq"])
}

export function rowToRole(row: Row): Role {
  return columnToText(row["role"]) as Role
}

export function columnToText(value: SqlStorageValue | undefined): string {
  return typeof value === "string" ? value : ""
}

function columnToTextOrNull(value: SqlStorageValue | undefined): string | null {
  return typeof value === "string" ? value : null
}

export function columnToNumberOrNull(value: SqlStorageValue | undefined): number | null {
  return typeof value === "number" ? value : null
}

export function parseJsonColumn<T>(value: SqlStorageValue | undefined): T | null {
  return typeof value === "string" ? (parseJson(value) as unknown as T) : null
}

export function toJsonColumn(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value)
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
  const { reply_to, topic, mode, metrics, attachments } = message
  const files = attachments.length === 0 ? {} : { attachments }
  return JSON.stringify({ reply_to, topic, mode, metrics, ...files } satisfies TranscriptMeta)
}

/** A message without its parts. */
export function rowToMessageHead(row: Row, versions = 1): Message {
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
    ...parseJsonColumn<TranscriptMeta>(row["meta"]),
  })
}

export function rowToQueuedMessage(row: Row): QueuedMessage {
  const id = columnToText(row["id"])
  const role: Role = row["agent"] === null ? "user" : "agent"
  const message = rowToMessageHead({ ...row, role, exchange_id: id, status: "queued", reason: null })
  return { n: Number(row["n"]), seq: rowToSeq(row), message }
}

/** Where a message stands among its ancestors: how many there are, its parent, and one far up to jump to. */
export interface Ancestry {
  readonly pos: number
  readonly parent: number | null
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

/** How the newest answer stands: only that one can be under way. */
export interface NewestAnswer {
  readonly status: MessageStatus
  readonly deadline: number | null
  /** A producer outside tells it. It is under way: one that ended has no deadline. */
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

/** An answer from outside, and how far its records were taken. */
export interface ExternalAnswer {
  readonly pos: number
  readonly exchange_id: string
  readonly status: MessageStatus
  readonly reason: string | null
  readonly ackedRecord: number
}

export function rowToExternalAnswer(row: Row): ExternalAnswer {
  const status = columnToText(row["status"]) as MessageStatus
  const position = { pos: Number(row["pos"]), ackedRecord: Number(row["told"]) }
  return {
    ...position,
    exchange_id: columnToText(row["exchange_id"]),
    status,
    reason: columnToTextOrNull(row["reason"]),
  }
}

const ROLES: readonly Role[] = ["user", "assistant", "agent"]

/** Names the place that versions of one message share: their parent and role, as a number. */
export function versionGroupKey(parent: number | null, role: Role): number {
  return (parent ?? 0) * ROLES.length + ROLES.indexOf(role)
}

/** What a client is told of a message that was taken back: that it is no more. */
export function rowToWithdrawnMessage(row: Row): StoredMessage {
  const id = columnToText(row["id"])
  const timestamp = new Date(0).toISOString()
  const message = createMessage({ id, role: "user", exchange_id: id, status: "cancelled", timestamp })
  return { pos: 0, parent: null, seq: rowToSeq(row), deadline: null, message }
}

export function rowToChunk(row: Row): TextChunk {
  const grants = parseJsonColumn<Grants>(row["grants"])
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
    media: parseJsonColumn<Asset[]>(row["media"]) ?? [],
  }
}

/** Rows of one message, in the order of their parts, as parts. */
export function rowsToParts(chunkRows: readonly Row[], callRows: readonly Row[]): Part[] {
  const parts: Part[] = []
  const outputs = new Map<number, string>()
  for (const chunk of chunkRows.map(rowToChunk)) {
    if (chunk.kind === "output") outputs.set(chunk.part, (outputs.get(chunk.part) ?? "") + chunk.text)
    else parts[chunk.part] = appendChunk(parts[chunk.part], chunk)
  }
  for (const row of callRows) {
    const part = Number(row["part"])
    parts[part] = { type: "tool_call", step: Number(row["step"]), call: rowToToolCall(row, outputs.get(part) ?? "") }
  }
  return parts
}

/** The last leaf of a part tells whether it is open, and how long it thought. */
function appendChunk(part: Part | undefined, chunk: TextChunk): Part {
  const before = part === undefined || part.type === "tool_call" ? "" : part.text
  const { step, open, ms } = chunk
  return chunk.kind === "thinking"
    ? { type: "thinking", step, text: before + chunk.text, open, ms }
    : { type: "text", step, text: before + chunk.text, open, ...textPartExtras(chunk) }
}

function textPartExtras({ cut, grants }: TextChunk): { readonly cut?: true; readonly grants?: Grants } {
  return { ...(cut === true ? { cut } : {}), ...(grants === undefined ? {} : { grants }) }
}

/** Whether nothing more can happen in a stored message of itself. */
export function isMessageSettled(stored: StoredMessage): boolean {
  return stored.message.role !== "assistant" || isEnded(stored.message.status)
}
