/**
 * session-store.ts: a session's rows, read and written: with part-rows.ts and ask-rows.ts all SQL that is spoken to them.
 *
 * fold → STORE → fold
 * Everything here is synchronous, so what one window writes is one transaction,
 * and the platform's output gate holds frames until it is safe (law 3).
 */

import { MAX_LATE_CHANGES } from "../../shared/limits.ts"
import type { Message, Role } from "../../shared/protocol/message.ts"
import type { AgentView } from "../tenant/agent-config.ts"
import { createAskRows } from "./agent-ask-rows.ts"
import { createClimbs } from "./ancestry.ts"
import { createPartRows } from "./part-rows.ts"
import {
  type FromOutside,
  fromOutsideOf,
  headOf,
  type NewestAnswer,
  newestAnswerOf,
  metaOf,
  numberOrNull,
  partsOf,
  placeOf,
  type QueuedMessage,
  queuedOf,
  roleOf,
  type Row,
  type SessionRow,
  seqOf,
  sessionOf,
  type StoredMessage,
  toJson,
  versionPlace,
  withdrawnOf,
} from "./row-codec.ts"
import type { Sql } from "./storage-gate.ts"

export type Store = ReturnType<typeof createStore>

/** Where a message with an id stands: `pos` is null while it is queued, and for ever once it was taken back. */
export interface Found {
  readonly pos: number | null
  /** The seq that it was accepted with, or taken back with. */
  readonly seq: number
  readonly role: Role
  readonly isWithdrawn: boolean
}

/** `atomically` runs writes all or none; without it (in tests) each statement stands alone. */
export function createStore(sql: Sql, atomically: <T>(write: () => T) => T = (write) => write()) {
  const rows = { read: 0, written: 0 }
  const all = (query: string, ...bindings: SqlStorageValue[]): Row[] => {
    const cursor = sql.exec<Row>(query, ...bindings)
    const found = cursor.toArray()
    rows.read += cursor.rowsRead
    rows.written += cursor.rowsWritten
    return found
  }
  const first = (query: string, ...bindings: SqlStorageValue[]): Row | null => all(query, ...bindings)[0] ?? null

  const parts = createPartRows(all)
  const countVersions = (parent: number | null): number =>
    Number(first("SELECT n FROM version WHERE parent = ? ORDER BY n DESC LIMIT 1", parent ?? 0)?.["n"] ?? 1)

  const climbs = createClimbs(first)

  const storedOf = (row: Row): StoredMessage => {
    const place = placeOf(row)
    const head = headOf(row, row["has_versions"] === 1 ? countVersions(place.parent) : 1)
    if (head.role === "user") return { ...place, message: head }
    const leaves = parts.leavesAt(place.pos)
    const calls = parts.callsAt(place.pos)
    const seq = Math.max(place.seq, ...leaves.map(seqOf), ...calls.map(seqOf))
    const found = partsOf(leaves, calls)
    return { ...place, seq, message: { ...head, parts: found, step: found.at(-1)?.step ?? 0 } }
  }

  return {
    atomically,

    ...parts,

    /** What agents ask each other. */
    asks: createAskRows(all),

    /** Rows read and written by this store so far, as the platform counts (and bills) them. */
    rows: (): { readonly read: number; readonly written: number } => ({ ...rows }),

    session(): SessionRow | null {
      const row = first("SELECT * FROM session")
      return row === null ? null : sessionOf(row)
    },

    createSession(row: Omit<SessionRow, "tip" | "late_seq" | "switches">): void {
      all(
        `INSERT INTO session (one, id, tenant, user, title, epoch, tip, late_seq, created, agent, family)
         VALUES (1, ?, ?, ?, ?, ?, NULL, 0, ?, ?, ?)`,
        ...[row.id, row.tenant, row.user, row.title, row.epoch, row.created, toJson(row.agent), toJson(row.family)],
      )
    },

    setAgent(agent: AgentView): void {
      all("UPDATE session SET agent = ?", JSON.stringify(agent))
    },

    setTitle(title: string): void {
      all("UPDATE session SET title = ?", title)
    },

    /** Another version is active: the path now ends at `tip` (null: at the newest row). */
    setPath(epoch: string, tip: number | null): void {
      all("UPDATE session SET epoch = ?, tip = ?", epoch, tip)
    },

    /** Remembers the ids of the newest switches, so that one that is repeated has no second effect. */
    setSwitches(ids: readonly string[]): void {
      all("UPDATE session SET switches = ?", JSON.stringify(ids))
    },

    /** Newest position; 0 in an empty session. */
    newestPos(): number {
      return Number(first("SELECT pos FROM transcript ORDER BY pos DESC LIMIT 1")?.["pos"] ?? 0)
    },

    /** How the newest message stands if it is an answer, without its parts: only that one can be under way. */
    newestAnswer(): NewestAnswer | null {
      const row = first("SELECT role, status, deadline, meta FROM transcript ORDER BY pos DESC LIMIT 1")
      return row?.["role"] === "assistant" ? newestAnswerOf(row) : null
    },

    /** Newest message of the active path; null in an empty session. */
    tip(): number | null {
      const pos = numberOrNull(first("SELECT tip FROM session")?.["tip"]) ?? this.newestPos()
      return pos === 0 ? null : pos
    },

    parentOf(pos: number): number | null {
      return numberOrNull(first("SELECT parent FROM transcript WHERE pos = ?", pos)?.["parent"])
    },

    /** Whether the active path leads through this message. Cost: rows as the logarithm of the messages after it. */
    isOnPath(pos: number): boolean {
      return climbs.leads(this.tip() ?? 0, pos)
    },

    isAt(pos: number): boolean {
      return first("SELECT 1 FROM transcript WHERE pos = ?", pos) !== null
    },

    at(pos: number): StoredMessage | null {
      const row = first("SELECT * FROM transcript WHERE pos = ?", pos)
      return row === null ? null : storedOf(row)
    },

    /** The message that comes next by position, on whichever path; null after the last. */
    after(pos: number): StoredMessage | null {
      const row = first("SELECT * FROM transcript WHERE pos > ? ORDER BY pos LIMIT 1", pos)
      return row === null ? null : storedOf(row)
    },

    /** The message with this id, also one that waits in the queue or was taken back. */
    find(id: string): Found | null {
      const row = first("SELECT pos, seq, role FROM transcript WHERE id = ?", id)
      if (row !== null) return { pos: Number(row["pos"]), seq: seqOf(row), role: roleOf(row), isWithdrawn: false }
      const queued = first("SELECT seq, iif(agent IS NULL, 'user', 'agent') AS role FROM queue WHERE id = ?", id)
      if (queued !== null) return { pos: null, seq: seqOf(queued), role: roleOf(queued), isWithdrawn: false }
      const withdrawn = first("SELECT seq FROM withdrawn WHERE id = ?", id)
      return withdrawn === null ? null : { pos: null, seq: seqOf(withdrawn), role: "user", isWithdrawn: true }
    },

    /** Whether any message has this id, or had it. */
    isTaken(id: string): boolean {
      const tables = ["transcript", "queue", "withdrawn"].map((table) => `SELECT 1 FROM ${table} WHERE id = ?1`)
      return first(`${tables.join(" UNION ALL ")} LIMIT 1`, id) !== null
    },

    /** It becomes the newest of the active path; where that is known to end with the newest row, `isPathOpen` saves a write. */
    insertMessage(place: StoredMessage, isPathOpen = false): void {
      const { pos, parent, seq, deadline, message } = place
      const { depth, jump } = climbs.under(parent)
      all(
        `INSERT INTO transcript
         (pos, id, role, exchange_id, parent, version, status, reason, seq, words, meta, created, deadline, summary,
          depth, jump, origin, agent)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        ...[pos, message.id, message.role, message.exchange_id, parent, message.version, message.status],
        ...[message.reason, seq, message.words, metaOf(message), Date.parse(message.timestamp), deadline],
        ...[toJson(message.summary), depth, jump, message.origin, toJson(message.agent)],
      )
      climbs.remember({ pos, parent, depth, jump })
      if (!isPathOpen) all("UPDATE session SET tip = NULL WHERE tip IS NOT NULL")
    },

    /** Status, reason, meta, summary and deadline of a message. */
    updateMessage({ pos, message, seq, deadline }: StoredMessage): void {
      all(
        "UPDATE transcript SET status = ?, reason = ?, seq = ?, meta = ?, summary = ?, deadline = ? WHERE pos = ?",
        ...[message.status, message.reason, seq, metaOf(message), toJson(message.summary), deadline, pos],
      )
    },

    /** Until when an answer may be silent, in milliseconds since 1970. */
    setDeadline(pos: number, deadline: number): void {
      all("UPDATE transcript SET deadline = ? WHERE pos = ?", deadline, pos)
    },

    /** Number of the newest record of an answer from outside that was taken; 0 before the first. */
    told(pos: number): number {
      return Number(first("SELECT told FROM producer WHERE pos = ?", pos)?.["told"] ?? 0)
    },

    beginTold(pos: number, exchange: string): void {
      all("INSERT INTO producer (pos, told, exchange) VALUES (?, 0, ?)", pos, exchange)
    },

    setTold(pos: number, told: number): void {
      all("UPDATE producer SET told = ? WHERE pos = ?", told, pos)
    },

    /** Where the newest answer from outside of an exchange stands; null where it has none. */
    outsideAnswer(exchange: string): number | null {
      const row = first("SELECT pos FROM producer WHERE exchange = ? ORDER BY pos DESC LIMIT 1", exchange)
      return row === null ? null : Number(row["pos"])
    },

    /** How an answer from outside stands, without its parts; null where there is none with this id. */
    fromOutside(id: string): FromOutside | null {
      const row = first(
        `SELECT t.pos, t.exchange_id, t.status, t.reason, p.told
         FROM transcript t JOIN producer p ON p.pos = t.pos WHERE t.id = ?`,
        id,
      )
      return row === null ? null : fromOutsideOf(row)
    },

    /** How many versions stand under a parent in the place of one message. */
    countVersions,

    /** The message at `pos` becomes version `n` in the place of `first`, which until now may have been the only one. */
    addVersion(parent: number | null, first: number, n: number, pos: number): void {
      if (n === 2) all("INSERT OR IGNORE INTO version (parent, n, pos) VALUES (?, 1, ?)", parent ?? 0, first)
      all("INSERT INTO version (parent, n, pos) VALUES (?, ?, ?)", parent ?? 0, n, pos)
      all("UPDATE transcript SET has_versions = 1 WHERE pos IN (?, ?) AND has_versions = 0", first, pos)
    },

    /** Where first versions stand, by `versionPlace`. Reads every message once: for imports. */
    firstVersions(): Map<number, number> {
      const firsts = new Map<number, number>()
      const heads = sql.exec<Row>("SELECT pos, parent, role FROM transcript WHERE version = 1 ORDER BY pos DESC")
      for (const row of heads) firsts.set(versionPlace(numberOrNull(row["parent"]), roleOf(row)), Number(row["pos"]))
      rows.read += heads.rowsRead
      return firsts
    },

    /** The message that is the newest version under a parent; null where there is only one. */
    newestVersion(parent: number): number | null {
      return numberOrNull(first("SELECT pos FROM version WHERE parent = ? ORDER BY n DESC LIMIT 1", parent)?.["pos"])
    },

    /** Where the path ended when this version was left, or the version itself; null where there is none. */
    tipOfVersion(parent: number | null, n: number): number | null {
      const row = first(
        `SELECT t.pos, (SELECT e.pos FROM transcript e WHERE e.pos = t.tip) AS tip
         FROM version v JOIN transcript t ON t.pos = v.pos WHERE v.parent = ? AND v.n = ?`,
        ...[parent ?? 0, n],
      )
      return row === null ? null : (numberOrNull(row["tip"]) ?? Number(row["pos"]))
    },

    /** Another version takes the place of this one: where the path ended is kept for its return. */
    leaveVersion(pos: number, tip: number | null): void {
      all("UPDATE transcript SET tip = ? WHERE pos = ?", tip, pos)
    },

    /** In the order in which they begin: a person is not kept waiting by what agents say. */
    queue(): QueuedMessage[] {
      return all("SELECT * FROM queue ORDER BY agent IS NOT NULL, n").map(queuedOf)
    },

    pushQueue(message: Message, seq: number): void {
      all(
        "INSERT INTO queue (id, words, meta, seq, created, agent) VALUES (?, ?, ?, ?, ?, ?)",
        ...[message.id, message.words, metaOf(message), seq, Date.parse(message.timestamp), toJson(message.agent)],
      )
    },

    /** The message that begins next. */
    nextQueued(): QueuedMessage | null {
      const row = first("SELECT * FROM queue ORDER BY agent IS NOT NULL, n LIMIT 1")
      return row === null ? null : queuedOf(row)
    },

    /** Messages that wait: those of persons, those of agents, or all. */
    countQueued(of: "person" | "agent" | "all" = "all"): number {
      const whose = { person: "WHERE agent IS NULL", agent: "WHERE agent IS NOT NULL", all: "" }[of]
      return Number(first(`SELECT count(*) AS n FROM queue ${whose}`)?.["n"] ?? 0)
    },

    dropQueued(n: number): void {
      all("DELETE FROM queue WHERE n = ?", n)
    },

    /** Takes a message out of the queue for ever: its id stays known, so that a late repeat does not bring it back. */
    withdraw(id: string, seq: number): void {
      all("DELETE FROM queue WHERE id = ?", id)
      all("INSERT INTO withdrawn (seq, id) VALUES (?, ?)", seq, id)
    },

    withdrawnSince(seq: number): StoredMessage[] {
      return all("SELECT * FROM withdrawn WHERE seq > ? ORDER BY seq", seq).map(withdrawnOf)
    },

    /** A message that had ended changed: its seq must not be given again, and who was away is to learn of it. */
    setLateSeq(seq: number, pos: number): void {
      all("UPDATE session SET late_seq = ?", seq)
      all("INSERT INTO late (seq, pos) VALUES (?, ?)", seq, pos)
      all("DELETE FROM late WHERE seq <= (SELECT seq FROM late ORDER BY seq DESC LIMIT 1 OFFSET ?)", MAX_LATE_CHANGES)
    },

    /** Where messages stand that changed late, after `seq`; null where that is further back than is remembered. */
    lateSince(seq: number): number[] | null {
      const found = all("SELECT pos FROM late WHERE seq > ? ORDER BY seq", seq)
      return found.length < MAX_LATE_CHANGES ? [...new Set(found.map((row) => Number(row["pos"])))] : null
    },

    /** Highest seq ever given, from the few rows that can hold it. */
    lastSeq(): number {
      const pos = this.newestPos()
      const row = first(
        `SELECT max(
           coalesce((SELECT seq FROM transcript WHERE pos = ?1), 0), coalesce((SELECT max(seq) FROM leaf WHERE pos = ?1), 0),
           coalesce((SELECT max(seq) FROM tool_calls WHERE pos = ?1), 0), coalesce((SELECT max(seq) FROM queue), 0),
           coalesce((SELECT max(seq) FROM withdrawn), 0), coalesce((SELECT late_seq FROM session), 0)) AS seq`,
        pos,
      )
      return row === null ? 0 : seqOf(row)
    },
  }
}
