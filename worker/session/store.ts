/**
 * store.ts: a session's rows, read and written. The only file that speaks SQL to them.
 *
 * fold → STORE → fold
 * Everything here is synchronous, so what one window writes is one transaction,
 * and the platform's output gate holds frames until it is safe (law 3).
 */

import type { CallError, Metrics, TextSize } from "../../shared/event.ts"
import { parseJson } from "../../shared/frame.ts"
import {
  type CallStatus,
  isEnded,
  type Message,
  type MessageStatus,
  openMessage,
  type Part,
  type Role,
  type ToolCall,
} from "../../shared/message.ts"

export interface SessionRow {
  readonly id: string
  readonly tenant: string
  readonly user: string
  readonly title: string
  readonly epoch: string
  readonly tip: number | null
  readonly late_seq: number
  readonly created: number
}

/** A message and where it stands. `seq` is that of its last change. */
export interface StoredMessage {
  readonly pos: number
  readonly parent: number | null
  readonly version: number
  readonly seq: number
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
  readonly ms: number | null
  /** JSON of what clean had not settled, on the last leaf of an open part. */
  readonly held: string | null
  readonly text: string
}

/** What stands in a transcript row's `meta`. */
interface Meta {
  readonly reply_to: string | null
  readonly topic: string | null
  readonly mode: string
  readonly metrics: Metrics | null
}

type Row = Record<string, SqlStorageValue>

export type Store = ReturnType<typeof createStore>

/** `atomically` runs writes all or none; without it (in tests) each statement stands alone. */
export function createStore(sql: SqlStorage, atomically: <T>(write: () => T) => T = (write) => write()) {
  const rows = { read: 0, written: 0 }
  const all = (query: string, ...bindings: SqlStorageValue[]): Row[] => {
    const cursor = sql.exec<Row>(query, ...bindings)
    const found = cursor.toArray()
    rows.read += cursor.rowsRead
    rows.written += cursor.rowsWritten
    return found
  }
  const first = (query: string, ...bindings: SqlStorageValue[]): Row | null => all(query, ...bindings)[0] ?? null

  const leavesAt = (pos: number): Row[] => all("SELECT * FROM leaf WHERE pos = ? ORDER BY part, n", pos)
  const callsAt = (pos: number): Row[] => all("SELECT * FROM tool_calls WHERE pos = ? ORDER BY part", pos)

  const storedOf = (row: Row): StoredMessage => {
    const pos = Number(row["pos"])
    const head = headOf(row)
    if (head.role === "user") return { ...placeOf(row), message: head }
    const leaves = leavesAt(pos)
    const calls = callsAt(pos)
    const seq = Math.max(Number(row["seq"]), ...leaves.map(seqOf), ...calls.map(seqOf))
    const parts = partsOf(leaves, calls)
    return { ...placeOf(row), seq, message: { ...head, parts, step: parts.at(-1)?.step ?? 0 } }
  }

  return {
    atomically,

    /** Rows read and written by this store so far, as the platform counts (and bills) them. */
    rows: (): { readonly read: number; readonly written: number } => ({ ...rows }),

    session(): SessionRow | null {
      const row = first("SELECT * FROM session")
      return row === null ? null : sessionOf(row)
    },

    createSession(row: Omit<SessionRow, "tip" | "late_seq">): void {
      all(
        "INSERT INTO session (one, id, tenant, user, title, epoch, tip, late_seq, created) VALUES (1, ?, ?, ?, ?, ?, NULL, 0, ?)",
        ...[row.id, row.tenant, row.user, row.title, row.epoch, row.created],
      )
    },

    setTitle(title: string): void {
      all("UPDATE session SET title = ?", title)
    },

    /** Newest position; 0 in an empty session. */
    newestPos(): number {
      return Number(first("SELECT pos FROM transcript ORDER BY pos DESC LIMIT 1")?.["pos"] ?? 0)
    },

    /** Newest message of the active path; null in an empty session. */
    tip(): number | null {
      const pos = numberOrNull(first("SELECT tip FROM session")?.["tip"]) ?? this.newestPos()
      return pos === 0 ? null : pos
    },

    parentOf(pos: number): number | null {
      return numberOrNull(first("SELECT parent FROM transcript WHERE pos = ?", pos)?.["parent"])
    },

    at(pos: number): StoredMessage | null {
      const row = first("SELECT * FROM transcript WHERE pos = ?", pos)
      return row === null ? null : storedOf(row)
    },

    /** Where the message with this id stands, and the seq it was accepted with; also while it is queued (pos null). */
    find(id: string): { readonly pos: number | null; readonly seq: number } | null {
      const row = first("SELECT pos, seq FROM transcript WHERE id = ?", id)
      if (row !== null) return { pos: Number(row["pos"]), seq: seqOf(row) }
      const queued = first("SELECT seq FROM queue WHERE id = ?", id)
      return queued === null ? null : { pos: null, seq: seqOf(queued) }
    },

    insertMessage(place: Omit<StoredMessage, "message">, message: Message): void {
      all(
        `INSERT INTO transcript (pos, id, role, exchange_id, parent, version, status, reason, seq, words, meta, created)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        ...[place.pos, message.id, message.role, message.exchange_id, place.parent, place.version, message.status],
        ...[message.reason, place.seq, message.words, metaOf(message), Date.parse(message.timestamp)],
      )
    },

    /** Status, reason and meta of a message, as at its end. */
    updateMessage(pos: number, message: Message, seq: number): void {
      all(
        "UPDATE transcript SET status = ?, reason = ?, seq = ?, meta = ? WHERE pos = ?",
        ...[message.status, message.reason, seq, metaOf(message), pos],
      )
    },

    putLeaf(pos: number, seq: number, leaf: Leaf): void {
      all(
        "INSERT OR REPLACE INTO leaf (pos, part, n, kind, step, seq, open, ms, held, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ...[pos, leaf.part, leaf.n, leaf.kind, leaf.step, seq, leaf.open ? 1 : 0, leaf.ms, leaf.held, leaf.text],
      )
    },

    putCall(pos: number, part: number, step: number, seq: number, call: ToolCall): void {
      all(
        `INSERT OR REPLACE INTO tool_calls
         (pos, part, step, seq, call_id, name, args, result, status, error, ordinal, card, channel, ephemeral,
          approval, output_size)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        ...[pos, part, step, seq, call.call_id, call.name, call.args, call.result, call.status],
        ...[call.error === null ? null : JSON.stringify(call.error), call.ordinal, call.card, call.channel],
        ...[call.ephemeral ? 1 : 0, call.approval, call.outputSize === null ? null : JSON.stringify(call.outputSize)],
      )
    },

    /** The last leaf of the part that is still open, with what clean held: where a fresh object goes on. */
    openLeaf(pos: number): Leaf | null {
      const row = first("SELECT * FROM leaf WHERE pos = ? ORDER BY part DESC, n DESC LIMIT 1", pos)
      return row === null || row["open"] !== 1 ? null : leafOf(row)
    },

    /** Sizes of a part's leaves, in UTF-16 code units, in order. */
    leafSizes(pos: number, part: number): { readonly n: number; readonly chars: number }[] {
      const rows = all("SELECT n, text FROM leaf WHERE pos = ? AND part = ? ORDER BY n", pos, part)
      return rows.map((row) => ({ n: Number(row["n"]), chars: text(row["text"]).length }))
    },

    queue(): QueuedMessage[] {
      return all("SELECT * FROM queue ORDER BY n").map(queuedOf)
    },

    pushQueue(message: Message, seq: number): void {
      all(
        "INSERT INTO queue (id, words, meta, seq, created) VALUES (?, ?, ?, ?, ?)",
        ...[message.id, message.words, metaOf(message), seq, Date.parse(message.timestamp)],
      )
    },

    /** The message that waits longest. */
    nextQueued(): QueuedMessage | null {
      const row = first("SELECT * FROM queue ORDER BY n LIMIT 1")
      return row === null ? null : queuedOf(row)
    },

    countQueued(): number {
      return Number(first("SELECT count(*) AS n FROM queue")?.["n"] ?? 0)
    },

    /** A message that is not the newest changed: its seq must not be given again. */
    setLateSeq(seq: number): void {
      all("UPDATE session SET late_seq = ?", seq)
    },

    dropQueued(n: number): void {
      all("DELETE FROM queue WHERE n = ?", n)
    },

    /** Highest seq ever given, from the few rows that can hold it. */
    lastSeq(): number {
      const pos = this.newestPos()
      const row = first(
        `SELECT max(
           coalesce((SELECT seq FROM transcript WHERE pos = ?1), 0), coalesce((SELECT max(seq) FROM leaf WHERE pos = ?1), 0),
           coalesce((SELECT max(seq) FROM tool_calls WHERE pos = ?1), 0), coalesce((SELECT max(seq) FROM queue), 0),
           coalesce((SELECT late_seq FROM session), 0)) AS seq`,
        pos,
      )
      return row === null ? 0 : seqOf(row)
    },
  }
}

function seqOf(row: Row): number {
  return Number(row["seq"])
}

function text(value: SqlStorageValue | undefined): string {
  return typeof value === "string" ? value : ""
}

function textOrNull(value: SqlStorageValue | undefined): string | null {
  return typeof value === "string" ? value : null
}

function numberOrNull(value: SqlStorageValue | undefined): number | null {
  return typeof value === "number" ? value : null
}

function sessionOf(row: Row): SessionRow {
  return {
    id: text(row["id"]),
    tenant: text(row["tenant"]),
    user: text(row["user"]),
    title: text(row["title"]),
    epoch: text(row["epoch"]),
    tip: numberOrNull(row["tip"]),
    late_seq: Number(row["late_seq"]),
    created: Number(row["created"]),
  }
}

function placeOf(row: Row): Omit<StoredMessage, "message"> {
  return {
    pos: Number(row["pos"]),
    parent: numberOrNull(row["parent"]),
    version: Number(row["version"]),
    seq: seqOf(row),
  }
}

function metaOf(message: Message): string {
  const { reply_to, topic, mode, metrics } = message
  return JSON.stringify({ reply_to, topic, mode, metrics } satisfies Meta)
}

/** Our own rows: the shapes are what `metaOf` and the writers above put there. */
function headOf(row: Row): Message {
  return openMessage({
    id: text(row["id"]),
    role: text(row["role"]) as Role,
    exchange_id: text(row["exchange_id"]),
    status: text(row["status"]) as MessageStatus,
    reason: textOrNull(row["reason"]),
    words: text(row["words"]),
    timestamp: new Date(Number(row["created"])).toISOString(),
    ...(parseJson(text(row["meta"])) as unknown as Meta),
  })
}

function queuedOf(row: Row): QueuedMessage {
  const id = text(row["id"])
  const message = headOf({ ...row, role: "user", exchange_id: id, status: "queued", reason: null })
  return { n: Number(row["n"]), seq: seqOf(row), message }
}

function leafOf(row: Row): Leaf {
  return {
    part: Number(row["part"]),
    n: Number(row["n"]),
    kind: text(row["kind"]) as Leaf["kind"],
    step: Number(row["step"]),
    open: row["open"] === 1,
    ms: numberOrNull(row["ms"]),
    held: textOrNull(row["held"]),
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
  }
}

/** Our own JSON, as the writers above put it there. */
function fromJson<T>(value: SqlStorageValue | undefined): T | null {
  return typeof value === "string" ? (parseJson(value) as unknown as T) : null
}

/** Rows of one message, in the order of their parts, as parts. */
function partsOf(leafRows: readonly Row[], callRows: readonly Row[]): Part[] {
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
    : { type: "text", step, text: before + leaf.text, open }
}

/** Whether nothing more can happen in a stored message of itself. */
export function isQuiet(stored: StoredMessage): boolean {
  return stored.message.role !== "assistant" || isEnded(stored.message.status)
}
