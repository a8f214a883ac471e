/**
 * row-codec.ts: what a session's rows hold, and how they become messages, parts and calls.
 *
 * SQL row → ROWS → Message
 * Our own rows: their shapes are what store.ts put there. No I/O.
 */

import type { AgentTag, Asset, CallError, Metrics, TextSize } from "../../shared/protocol/event.ts"
import { parseJson } from "../../shared/protocol/frame.ts"
import {
  type CallStatus,
  type Grants,
  isEnded,
  type Message,
  type MessageStatus,
  openMessage,
  type Part,
  type Role,
  type Summary,
  type ToolCall,
} from "../../shared/protocol/message.ts"

import { type AgentView, GENERAL } from "../tenant/agent-config.ts"

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
  readonly family: Family
}

/** A session that is to be made. */
export interface NewSession extends Pick<SessionRow, "id" | "title" | "family"> {
  /** Name of the one who answers in it. */
  readonly agent: string
}

/** The session in which a person talks, and its agent: those that are asked there, and by these, have one session each. */
export interface Family {
  readonly session: string
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

export interface Leaf {
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
interface Meta {
  readonly reply_to: string | null
  readonly topic: string | null
  readonly mode: string
  readonly metrics: Metrics | null
  /** Only where there are some. */
  readonly attachments?: readonly Asset[]
}

/** What stands in a leaf's `open`: its part is finished, goes on, or was ended from outside. */
const CLOSED = 0
const OPEN = 1
const CUT = 2

export function openOf({ open, cut }: Pick<Leaf, "open" | "cut">): number {
  return cut === true ? CUT : open ? OPEN : CLOSED
}

export function seqOf(row: Row): number {
  return Number(row["seq"])
}

export function roleOf(row: Row): Role {
  return text(row["role"]) as Role
}

export function text(value: SqlStorageValue | undefined): string {
  return typeof value === "string" ? value : ""
}

function textOrNull(value: SqlStorageValue | undefined): string | null {
  return typeof value === "string" ? value : null
}

export function numberOrNull(value: SqlStorageValue | undefined): number | null {
  return typeof value === "number" ? value : null
}

export function fromJson<T>(value: SqlStorageValue | undefined): T | null {
  return typeof value === "string" ? (parseJson(value) as unknown as T) : null
}

export function toJson(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value)
}

export function sessionOf(row: Row): SessionRow {
  const agent = fromJson<AgentView>(row["agent"])
  return {
    id: text(row["id"]),
    tenant: text(row["tenant"]),
    user: text(row["user"]),
    title: text(row["title"]),
    epoch: text(row["epoch"]),
    tip: numberOrNull(row["tip"]),
    late_seq: Number(row["late_seq"]),
    switches: fromJson<string[]>(row["switches"]) ?? [],
    created: Number(row["created"]),
    agent,
    family: fromJson<Family>(row["family"]) ?? { session: text(row["id"]), agent: agent?.self.name ?? GENERAL },
  }
}

export function placeOf(row: Row): Omit<StoredMessage, "message"> {
  return {
    pos: Number(row["pos"]),
    parent: numberOrNull(row["parent"]),
    seq: seqOf(row),
    deadline: numberOrNull(row["deadline"]),
    tip: numberOrNull(row["tip"]),
  }
}

export function metaOf(message: Message): string {
  const { reply_to, topic, mode, metrics, attachments } = message
  const files = attachments.length === 0 ? {} : { attachments }
  return JSON.stringify({ reply_to, topic, mode, metrics, ...files } satisfies Meta)
}

/** A message without its parts. */
export function headOf(row: Row, versions = 1): Message {
  return openMessage({
    id: text(row["id"]),
    role: roleOf(row),
    exchange_id: text(row["exchange_id"]),
    status: text(row["status"]) as MessageStatus,
    reason: textOrNull(row["reason"]),
    words: text(row["words"]),
    timestamp: new Date(Number(row["created"])).toISOString(),
    summary: fromJson<Summary>(row["summary"]),
    agent: fromJson<AgentTag>(row["agent"]),
    origin: row["origin"] === "import" ? "import" : null,
    ...{ version: numberOrNull(row["version"]) ?? 1, versions },
    ...fromJson<Meta>(row["meta"]),
  })
}

export function queuedOf(row: Row): QueuedMessage {
  const id = text(row["id"])
  const role: Role = row["agent"] === null ? "user" : "agent"
  const message = headOf({ ...row, role, exchange_id: id, status: "queued", reason: null })
  return { n: Number(row["n"]), seq: seqOf(row), message }
}

/** Where a message stands among its ancestors: how many there are, its parent, and one far up to jump to. */
export interface Climb {
  readonly pos: number
  readonly parent: number | null
  readonly depth: number
  readonly jump: number | null
}

export function climbOf(row: Row): Climb {
  const pos = Number(row["pos"])
  return { pos, parent: numberOrNull(row["parent"]), depth: Number(row["depth"]), jump: numberOrNull(row["jump"]) }
}

/** How the newest answer stands: only that one can be under way. */
export interface NewestAnswer {
  readonly status: MessageStatus
  readonly deadline: number | null
  /** A producer outside tells it. It is under way: one that ended has no deadline. */
  readonly isOutside: boolean
}

export function newestAnswerOf(row: Row): NewestAnswer {
  const [status, deadline] = [text(row["status"]) as MessageStatus, numberOrNull(row["deadline"])]
  return { status, deadline, isOutside: deadline !== null && fromJson<Meta>(row["meta"])?.mode === "external" }
}

/** An answer from outside, and how far its records were taken. */
export interface FromOutside {
  readonly pos: number
  readonly exchange_id: string
  readonly status: MessageStatus
  readonly reason: string | null
  readonly told: number
}

export function fromOutsideOf(row: Row): FromOutside {
  const status = text(row["status"]) as MessageStatus
  const place = { pos: Number(row["pos"]), told: Number(row["told"]) }
  return { ...place, exchange_id: text(row["exchange_id"]), status, reason: textOrNull(row["reason"]) }
}

const ROLES: readonly Role[] = ["user", "assistant", "agent"]

/** Names the place that versions of one message share: their parent and role, as a number. */
export function versionPlace(parent: number | null, role: Role): number {
  return (parent ?? 0) * ROLES.length + ROLES.indexOf(role)
}

/** What a client is told of a message that was taken back: that it is no more. */
export function withdrawnOf(row: Row): StoredMessage {
  const id = text(row["id"])
  const timestamp = new Date(0).toISOString()
  const message = openMessage({ id, role: "user", exchange_id: id, status: "cancelled", timestamp })
  return { pos: 0, parent: null, seq: seqOf(row), deadline: null, message }
}

export function leafOf(row: Row): Leaf {
  const grants = fromJson<Grants>(row["grants"])
  return {
    part: Number(row["part"]),
    n: Number(row["n"]),
    kind: text(row["kind"]) as Leaf["kind"],
    step: Number(row["step"]),
    open: row["open"] === OPEN,
    ...(row["open"] === CUT ? { cut: true } : {}),
    ms: numberOrNull(row["ms"]),
    held: textOrNull(row["held"]),
    ...(grants === null ? {} : { grants }),
    text: text(row["text"]),
  }
}

function callOf(row: Row, output: string): ToolCall {
  return {
    call_id: text(row["call_id"]),
    name: text(row["name"]),
    args: text(row["args"]),
    status: text(row["status"]) as CallStatus,
    ordinal: numberOrNull(row["ordinal"]),
    channel: textOrNull(row["channel"]) as ToolCall["channel"],
    card: textOrNull(row["card"]),
    output,
    result: textOrNull(row["result"]),
    error: fromJson<CallError>(row["error"]),
    approval: textOrNull(row["approval"]) as ToolCall["approval"],
    outputSize: fromJson<TextSize>(row["output_size"]),
    ephemeral: row["ephemeral"] === 1,
    media: fromJson<Asset[]>(row["media"]) ?? [],
  }
}

/** Rows of one message, in the order of their parts, as parts. */
export function partsOf(leafRows: readonly Row[], callRows: readonly Row[]): Part[] {
  const parts: Part[] = []
  const outputs = new Map<number, string>()
  for (const leaf of leafRows.map(leafOf)) {
    if (leaf.kind === "output") outputs.set(leaf.part, (outputs.get(leaf.part) ?? "") + leaf.text)
    else parts[leaf.part] = partWith(parts[leaf.part], leaf)
  }
  for (const row of callRows) {
    const part = Number(row["part"])
    parts[part] = { type: "tool_call", step: Number(row["step"]), call: callOf(row, outputs.get(part) ?? "") }
  }
  return parts
}

/** The last leaf of a part tells whether it is open, and how long it thought. */
function partWith(part: Part | undefined, leaf: Leaf): Part {
  const before = part === undefined || part.type === "tool_call" ? "" : part.text
  const { step, open, ms } = leaf
  return leaf.kind === "thinking"
    ? { type: "thinking", step, text: before + leaf.text, open, ms }
    : { type: "text", step, text: before + leaf.text, open, ...besideText(leaf) }
}

function besideText({ cut, grants }: Leaf): { readonly cut?: true; readonly grants?: Grants } {
  return { ...(cut === true ? { cut } : {}), ...(grants === undefined ? {} : { grants }) }
}

/** Whether nothing more can happen in a stored message of itself. */
export function isQuiet(stored: StoredMessage): boolean {
  return stored.message.role !== "assistant" || isEnded(stored.message.status)
}
