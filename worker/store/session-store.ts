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
import { createAgentAskRows } from "./agent-ask-rows.ts"
import { createAncestryIndex } from "./ancestry.ts"
import { createPartRows } from "./part-rows.ts"
import {
  type ExternalAnswer,
  rowToExternalAnswer,
  rowToMessageHead,
  type NewestAnswer,
  rowToNewestAnswer,
  messageToMeta,
  columnToNumberOrNull,
  rowsToParts,
  rowToPosition,
  type QueuedMessage,
  rowToQueuedMessage,
  rowToRole,
  type Row,
  type SessionRow,
  rowToSeq,
  rowToSession,
  type StoredMessage,
  toJsonColumn,
  versionGroupKey,
  rowToWithdrawnMessage,
} from "./row-codec.ts"
import type { SqlExecutor } from "./storage-gate.ts"

export type SessionStore = ReturnType<typeof createSessionStore>

/** Where a message with an id stands: `pos` is null while it is queued, and for ever once it was taken back. */
export interface FoundMessage {
  readonly pos: number | null
  /** The seq that it was accepted with, or taken back with. */
  readonly seq: number
  readonly role: Role
  readonly isWithdrawn: boolean
}

/** `atomically` runs writes all or none; without it (in tests) each statement stands alone. */
export function createSessionStore(sql: SqlExecutor, runInTransaction: <T>(write: () => T) => T = (write) => write()) {
  const rowCounts = { read: 0, written: 0 }
  const queryAll = (query: string, ...bindings: SqlStorageValue[]): Row[] => {
    const cursor = sql.exec<Row>(query, ...bindings)
    const found = cursor.toArray()
    rowCounts.read += cursor.rowsRead
    rowCounts.written += cursor.rowsWritten
    return found
  }
  const queryFirst = (query: string, ...bindings: SqlStorageValue[]): Row | null =>
    queryAll(query, ...bindings)[0] ?? null

  const partRows = createPartRows(queryAll)
  const countVersions = (parent: number | null): number =>
    Number(queryFirst("SELECT n FROM version WHERE parent = ? ORDER BY n DESC LIMIT 1", parent ?? 0)?.["n"] ?? 1)

  const ancestryIndex = createAncestryIndex(queryFirst)

  const rowToStoredMessage = (row: Row): StoredMessage => {
    const position = rowToPosition(row)
    const head = rowToMessageHead(row, row["has_versions"] === 1 ? countVersions(position.parent) : 1)
    if (head.role === "user") return { ...position, message: head }
    const chunkRows = partRows.readChunkRows(position.pos)
    const callRows = partRows.readCallRows(position.pos)
    const seq = Math.max(position.seq, ...chunkRows.map(rowToSeq), ...callRows.map(rowToSeq))
    const found = rowsToParts(chunkRows, callRows)
    return { ...position, seq, message: { ...head, parts: found, step: found.at(-1)?.step ?? 0 } }
  }

  return {
    atomically: runInTransaction,

    ...partRows,

    /** What agents ask each other. */
    agentAsks: createAgentAskRows(queryAll),

    /** Rows read and written by this store so far, as the platform counts (and bills) them. */
    countRows: (): { readonly read: number; readonly written: number } => ({ ...rowCounts }),

    readSession(): SessionRow | null {
      const row = queryFirst("SELECT * FROM session")
      return row === null ? null : rowToSession(row)
    },

    createSession(row: Omit<SessionRow, "tip" | "late_seq" | "switches">): void {
      queryAll(
        `INSERT INTO session (one, id, tenant, user, title, epoch, tip, late_seq, created, agent, family)
         VALUES (1, ?, ?, ?, ?, ?, NULL, 0, ?, ?, ?)`,
        ...[
          row.id,
          row.tenant,
          row.user,
          row.title,
          row.epoch,
          row.created,
          toJsonColumn(row.agent),
          toJsonColumn(row.family),
        ],
      )
    },

    setAgent(agent: AgentView): void {
      queryAll("UPDATE session SET agent = ?", JSON.stringify(agent))
    },

    setTitle(title: string): void {
      queryAll("UPDATE session SET title = ?", title)
    },

    /** Another version is active: the path now ends at `tip` (null: at the newest row). */
    setActivePath(epoch: string, tip: number | null): void {
      queryAll("UPDATE session SET epoch = ?, tip = ?", epoch, tip)
    },

    /** Remembers the ids of the newest switches, so that one that is repeated has no second effect. */
    setSwitches(ids: readonly string[]): void {
      queryAll("UPDATE session SET switches = ?", JSON.stringify(ids))
    },

    /** Newest position; 0 in an empty session. */
    readNewestPos(): number {
      return Number(queryFirst("SELECT pos FROM transcript ORDER BY pos DESC LIMIT 1")?.["pos"] ?? 0)
    },

    /** How the newest message stands if it is an answer, without its parts: only that one can be under way. */
    findNewestAnswer(): NewestAnswer | null {
      const row = queryFirst("SELECT role, status, deadline, meta FROM transcript ORDER BY pos DESC LIMIT 1")
      return row?.["role"] === "assistant" ? rowToNewestAnswer(row) : null
    },

    /** Newest message of the active path; null in an empty session. */
    readTip(): number | null {
      const pos = columnToNumberOrNull(queryFirst("SELECT tip FROM session")?.["tip"]) ?? this.readNewestPos()
      return pos === 0 ? null : pos
    },

    findParent(pos: number): number | null {
      return columnToNumberOrNull(queryFirst("SELECT parent FROM transcript WHERE pos = ?", pos)?.["parent"])
    },

    /** Whether the active path leads through this message. Cost: rows as the logarithm of the messages after it. */
    isOnPath(pos: number): boolean {
      return ancestryIndex.isOnPathTo(this.readTip() ?? 0, pos)
    },

    hasMessageAt(pos: number): boolean {
      return queryFirst("SELECT 1 FROM transcript WHERE pos = ?", pos) !== null
    },

    findMessageAt(pos: number): StoredMessage | null {
      const row = queryFirst("SELECT * FROM transcript WHERE pos = ?", pos)
      return row === null ? null : rowToStoredMessage(row)
    },

    /** The message that comes next by position, on whichever path; null after the last. */
    findMessageAfter(pos: number): StoredMessage | null {
      const row = queryFirst("SELECT * FROM transcript WHERE pos > ? ORDER BY pos LIMIT 1", pos)
      return row === null ? null : rowToStoredMessage(row)
    },

    /** The message with this id, also one that waits in the queue or was taken back. */
    findById(id: string): FoundMessage | null {
      const row = queryFirst("SELECT pos, seq, role FROM transcript WHERE id = ?", id)
      if (row !== null) return { pos: Number(row["pos"]), seq: rowToSeq(row), role: rowToRole(row), isWithdrawn: false }
      const queued = queryFirst("SELECT seq, iif(agent IS NULL, 'user', 'agent') AS role FROM queue WHERE id = ?", id)
      if (queued !== null) return { pos: null, seq: rowToSeq(queued), role: rowToRole(queued), isWithdrawn: false }
      const withdrawn = queryFirst("SELECT seq FROM withdrawn WHERE id = ?", id)
      return withdrawn === null ? null : { pos: null, seq: rowToSeq(withdrawn), role: "user", isWithdrawn: true }
    },

    /** Whether any message has this id, or had it. */
    isIdTaken(id: string): boolean {
      const tables = ["transcript", "queue", "withdrawn"].map((table) => `SELECT 1 FROM ${table} WHERE id = ?1`)
      return queryFirst(`${tables.join(" UNION ALL ")} LIMIT 1`, id) !== null
    },

    /** It becomes the newest of the active path; where that is known to end with the newest row, `isPathOpen` saves a write. */
    insertMessage(stored: StoredMessage, isPathOpen = false): void {
      const { pos, parent, seq, deadline, message } = stored
      const { depth, jump } = ancestryIndex.childAncestry(parent)
      queryAll(
        `INSERT INTO transcript
         (pos, id, role, exchange_id, parent, version, status, reason, seq, words, meta, created, deadline, summary,
          depth, jump, origin, agent)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        ...[pos, message.id, message.role, message.exchange_id, parent, message.version, message.status],
        ...[message.reason, seq, message.words, messageToMeta(message), Date.parse(message.timestamp), deadline],
        ...[toJsonColumn(message.summary), depth, jump, message.origin, toJsonColumn(message.agent)],
      )
      ancestryIndex.remember({ pos, parent, depth, jump })
      if (!isPathOpen) queryAll("UPDATE session SET tip = NULL WHERE tip IS NOT NULL")
    },

    /** Status, reason, meta, summary and deadline of a message. */
    updateMessage({ pos, message, seq, deadline }: StoredMessage): void {
      queryAll(
        "UPDATE transcript SET status = ?, reason = ?, seq = ?, meta = ?, summary = ?, deadline = ? WHERE pos = ?",
        ...[message.status, message.reason, seq, messageToMeta(message), toJsonColumn(message.summary), deadline, pos],
      )
    },

    /** Until when an answer may be silent, in milliseconds since 1970. */
    setDeadline(pos: number, deadline: number): void {
      queryAll("UPDATE transcript SET deadline = ? WHERE pos = ?", deadline, pos)
    },

    /** Number of the newest record of an answer from outside that was taken; 0 before the first. */
    readAckedRecord(pos: number): number {
      return Number(queryFirst("SELECT told FROM producer WHERE pos = ?", pos)?.["told"] ?? 0)
    },

    insertProducer(pos: number, exchangeId: string): void {
      queryAll("INSERT INTO producer (pos, told, exchange) VALUES (?, 0, ?)", pos, exchangeId)
    },

    setAckedRecord(pos: number, ackedRecord: number): void {
      queryAll("UPDATE producer SET told = ? WHERE pos = ?", ackedRecord, pos)
    },

    /** Where the newest answer from outside of an exchange stands; null where it has none. */
    findExternalAnswerPos(exchangeId: string): number | null {
      const row = queryFirst("SELECT pos FROM producer WHERE exchange = ? ORDER BY pos DESC LIMIT 1", exchangeId)
      return row === null ? null : Number(row["pos"])
    },

    /** How an answer from outside stands, without its parts; null where there is none with this id. */
    findExternalAnswer(id: string): ExternalAnswer | null {
      const row = queryFirst(
        `SELECT t.pos, t.exchange_id, t.status, t.reason, p.told
         FROM transcript t JOIN producer p ON p.pos = t.pos WHERE t.id = ?`,
        id,
      )
      return row === null ? null : rowToExternalAnswer(row)
    },

    /** How many versions stand under a parent in the place of one message. */
    countVersions,

    /** The message at `pos` becomes version `n` in the place of `first`, which until now may have been the only one. */
    addVersion(parent: number | null, firstPos: number, n: number, pos: number): void {
      if (n === 2) queryAll("INSERT OR IGNORE INTO version (parent, n, pos) VALUES (?, 1, ?)", parent ?? 0, firstPos)
      queryAll("INSERT INTO version (parent, n, pos) VALUES (?, ?, ?)", parent ?? 0, n, pos)
      queryAll("UPDATE transcript SET has_versions = 1 WHERE pos IN (?, ?) AND has_versions = 0", firstPos, pos)
    },

    /** Where first versions stand, by `versionPlace`. Reads every message once: for imports. */
    readFirstVersions(): Map<number, number> {
      const firsts = new Map<number, number>()
      const heads = sql.exec<Row>("SELECT pos, parent, role FROM transcript WHERE version = 1 ORDER BY pos DESC")
      for (const row of heads)
        firsts.set(versionGroupKey(columnToNumberOrNull(row["parent"]), rowToRole(row)), Number(row["pos"]))
      rowCounts.read += heads.rowsRead
      return firsts
    },

    /** The message that is the newest version under a parent; null where there is only one. */
    findNewestVersion(parent: number): number | null {
      return columnToNumberOrNull(
        queryFirst("SELECT pos FROM version WHERE parent = ? ORDER BY n DESC LIMIT 1", parent)?.["pos"],
      )
    },

    /** Where the path ended when this version was left, or the version itself; null where there is none. */
    findVersionTip(parent: number | null, n: number): number | null {
      const row = queryFirst(
        `SELECT t.pos, (SELECT e.pos FROM transcript e WHERE e.pos = t.tip) AS tip
         FROM version v JOIN transcript t ON t.pos = v.pos WHERE v.parent = ? AND v.n = ?`,
        ...[parent ?? 0, n],
      )
      return row === null ? null : (columnToNumberOrNull(row["tip"]) ?? Number(row["pos"]))
    },

    /** Another version takes the place of this one: where the path ended is kept for its return. */
    setVersionTip(pos: number, tip: number | null): void {
      queryAll("UPDATE transcript SET tip = ? WHERE pos = ?", tip, pos)
    },

    /** In the order in which they begin: a person is not kept waiting by what agents say. */
    readQueue(): QueuedMessage[] {
      return queryAll("SELECT * FROM queue ORDER BY agent IS NOT NULL, n").map(rowToQueuedMessage)
    },

    enqueueMessage(message: Message, seq: number): void {
      queryAll(
        "INSERT INTO queue (id, words, meta, seq, created, agent) VALUES (?, ?, ?, ?, ?, ?)",
        ...[
          message.id,
          message.words,
          messageToMeta(message),
          seq,
          Date.parse(message.timestamp),
          toJsonColumn(message.agent),
        ],
      )
    },

    /** The message that begins next. */
    findNextQueued(): QueuedMessage | null {
      const row = queryFirst("SELECT * FROM queue ORDER BY agent IS NOT NULL, n LIMIT 1")
      return row === null ? null : rowToQueuedMessage(row)
    },

    /** Messages that wait: those of persons, those of agents, or all. */
    countQueued(sender: "person" | "agent" | "all" = "all"): number {
      const whose = { person: "WHERE agent IS NULL", agent: "WHERE agent IS NOT NULL", all: "" }[sender]
      return Number(queryFirst(`SELECT count(*) AS n FROM queue ${whose}`)?.["n"] ?? 0)
    },

    deleteQueued(n: number): void {
      queryAll("DELETE FROM queue WHERE n = ?", n)
    },

    /** Takes a message out of the queue for ever: its id stays known, so that a late repeat does not bring it back. */
    withdrawQueued(id: string, seq: number): void {
      queryAll("DELETE FROM queue WHERE id = ?", id)
      queryAll("INSERT INTO withdrawn (seq, id) VALUES (?, ?)", seq, id)
    },

    readWithdrawnSince(seq: number): StoredMessage[] {
      return queryAll("SELECT * FROM withdrawn WHERE seq > ? ORDER BY seq", seq).map(rowToWithdrawnMessage)
    },

    /** A message that had ended changed: its seq must not be given again, and who was away is to learn of it. */
    recordLateChange(seq: number, pos: number): void {
      queryAll("UPDATE session SET late_seq = ?", seq)
      queryAll("INSERT INTO late (seq, pos) VALUES (?, ?)", seq, pos)
      queryAll(
        "DELETE FROM late WHERE seq <= (SELECT seq FROM late ORDER BY seq DESC LIMIT 1 OFFSET ?)",
        MAX_LATE_CHANGES,
      )
    },

    /** Where messages stand that changed late, after `seq`; null where that is further back than is remembered. */
    readLateChanges(seq: number): number[] | null {
      const found = queryAll("SELECT pos FROM late WHERE seq > ? ORDER BY seq", seq)
      return found.length < MAX_LATE_CHANGES ? [...new Set(found.map((row) => Number(row["pos"])))] : null
    },

    /** Highest seq ever given, from the few rows that can hold it. */
    readLastSeq(): number {
      const pos = this.readNewestPos()
      const row = queryFirst(
        `SELECT max(
           coalesce((SELECT seq FROM transcript WHERE pos = ?1), 0), coalesce((SELECT max(seq) FROM leaf WHERE pos = ?1), 0),
           coalesce((SELECT max(seq) FROM tool_calls WHERE pos = ?1), 0), coalesce((SELECT max(seq) FROM queue), 0),
           coalesce((SELECT max(seq) FROM withdrawn), 0), coalesce((SELECT late_seq FROM session), 0)) AS seq`,
        pos,
      )
      return row === null ? 0 : rowToSeq(row)
    },
  }
}
