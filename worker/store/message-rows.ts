/** message-rows.ts: the `transcript` table: one row per message, keyed by its immutable position. */

import { isEnded, type Role } from "../../shared/protocol/message.ts"
import { type AncestryIndex, createAncestryIndex } from "./ancestry.ts"
import type { PricedCall } from "../../shared/usage/call-usage.ts"
import { columnToNumberOrNull, toJsonColumn } from "./columns.ts"
import type { Database, Row } from "./database.ts"
import type { CallInputs } from "./callbacks/call-inputs.ts"
import { createPartRows } from "./part-rows.ts"
import {
  messageToMeta,
  type NewestAnswer,
  rowsToParts,
  rowsToUsage,
  rowToMessageHead,
  rowToNewestAnswer,
  rowToPosition,
  rowToRole,
  rowToSeq,
  type StoredMessage,
  usageToColumn,
} from "./row-codec.ts"
import { countVersions } from "./version-rows.ts"

/** The result of a search by id. `pos` is null for a queued or withdrawn message. */
export interface FoundMessage {
  readonly pos: number | null
  /** The seq that was assigned when the message was accepted or withdrawn. */
  readonly seq: number
  readonly role: Role
  readonly isWithdrawn: boolean
}

/** Where a transcript ends. */
export interface TranscriptEnds {
  /** The newest position; 0 in an empty session. */
  readonly newestPos: number
  /** The position of the newest message of the active path; null if there is none. */
  readonly tip: number | null
  /** Whether the active path ends at the newest position. */
  readonly isPathOpen: boolean
}

export function createMessageRows(database: Database, inputs: CallInputs) {
  const ancestry = createAncestryIndex(database)
  return {
    ...createMessageReads(database, inputs),
    ...createIdLookups(database),
    ...createPathQueries(database, ancestry),
    ...createMessageWrites(database, ancestry),
  }
}

function createMessageReads(database: Database, inputs: CallInputs) {
  const { queryFirst } = database
  const loadMessage = createMessageLoader(database, inputs)
  const loadFirst = (query: string, pos: number): StoredMessage | null => {
    const row = queryFirst(query, pos)
    return row === null ? null : loadMessage(row)
  }
  return {
    hasMessageAt(pos: number): boolean {
      return queryFirst("SELECT 1 FROM transcript WHERE pos = ?", pos) !== null
    },

    findMessageAt(pos: number): StoredMessage | null {
      return loadFirst("SELECT * FROM transcript WHERE pos = ?", pos)
    },

    /**
     * Returns the model calls of the answer at a position. Empty for an imported answer, and for an answer from version
     * 0.1.0.
     */
    readUsageAt(pos: number): readonly PricedCall[] {
      const row = queryFirst("SELECT usage FROM transcript WHERE pos = ?", pos)
      return row === null ? [] : rowsToUsage([row])
    },

    /** Returns the next message by position, on any path; null after the last one. */
    findMessageAfter(pos: number): StoredMessage | null {
      return loadFirst("SELECT * FROM transcript WHERE pos > ? ORDER BY pos LIMIT 1", pos)
    },

    /** Returns the newest message without its parts, if it is an answer. No older answer can be running. */
    findNewestAnswer(): NewestAnswer | null {
      const row = queryFirst("SELECT role, status, deadline, meta FROM transcript ORDER BY pos DESC LIMIT 1")
      return row?.["role"] === "assistant" ? rowToNewestAnswer(row) : null
    },
  }
}

/** Creates a function that completes a row of `transcript` with the message's parts and number of versions. */
function createMessageLoader(database: Database, inputs: CallInputs): (row: Row) => StoredMessage {
  const partRows = createPartRows(database)
  return (row) => {
    const position = rowToPosition(row)
    const head = rowToMessageHead(row, row["has_versions"] === 1 ? countVersions(database, position.parent) : 1)
    if (head.role === "user") return { ...position, message: head }
    const chunkRows = partRows.readChunkRows(position.pos)
    const callRows = partRows.readCallRows(position.pos)
    const seq = Math.max(position.seq, ...chunkRows.map(rowToSeq), ...callRows.map(rowToSeq))
    const parts = rowsToParts(chunkRows, callRows, inputs.findAsked)
    const usage = isEnded(head.status) ? [] : rowsToUsage([row, ...callRows])
    return { ...position, seq, usage, message: { ...head, parts, step: parts.at(-1)?.step ?? 0 } }
  }
}

const FIND_BY_ID = `SELECT pos, seq, role, 0 AS is_withdrawn FROM transcript WHERE id = ?1
  UNION ALL SELECT NULL, seq, iif(agent IS NULL, 'user', 'agent'), 0 FROM queue WHERE id = ?1
  UNION ALL SELECT NULL, seq, 'user', 1 FROM withdrawn WHERE id = ?1
  LIMIT 1`

function createIdLookups({ queryFirst }: Database) {
  return {
    /** Finds a message by its id, including one that is queued or was withdrawn. */
    findById(id: string): FoundMessage | null {
      const row = queryFirst(FIND_BY_ID, id)
      if (row === null) return null
      const pos = columnToNumberOrNull(row["pos"])
      return { pos, seq: rowToSeq(row), role: rowToRole(row), isWithdrawn: row["is_withdrawn"] === 1 }
    },

    /** Whether a message has or had this id. */
    isIdTaken(id: string): boolean {
      const tables = ["transcript", "queue", "withdrawn"].map((table) => `SELECT 1 FROM ${table} WHERE id = ?1`)
      return queryFirst(`${tables.join(" UNION ALL ")} LIMIT 1`, id) !== null
    },
  }
}

/** Returns the newest position; 0 in an empty session. */
export function readNewestPos({ queryFirst }: Database): number {
  return Number(queryFirst("SELECT pos FROM transcript ORDER BY pos DESC LIMIT 1")?.["pos"] ?? 0)
}

function createPathQueries(database: Database, ancestry: AncestryIndex) {
  const { queryFirst } = database

  function readEnds(): TranscriptEnds {
    const row = queryFirst("SELECT tip, (SELECT max(pos) FROM transcript) AS newest FROM session")
    const newestPos = Number(row?.["newest"] ?? 0)
    const stored = columnToNumberOrNull(row?.["tip"])
    const pos = stored ?? newestPos
    return { newestPos, tip: pos === 0 ? null : pos, isPathOpen: stored === null }
  }

  const readTip = (): number | null => readEnds().tip

  return {
    /** Returns the newest position; 0 in an empty session. */
    readNewestPos: (): number => readNewestPos(database),

    readEnds,

    /**
     * Returns the position of the newest message of the active path; null in an empty session, and while an import is
     * being folded.
     */
    readTip,

    findParent(pos: number): number | null {
      return columnToNumberOrNull(queryFirst("SELECT parent FROM transcript WHERE pos = ?", pos)?.["parent"])
    },

    /**
     * Whether a message is on the active path. Cost: a number of rows that is logarithmic in the number of later
     * messages.
     */
    isOnPath(pos: number): boolean {
      return ancestry.isOnPathTo(readTip() ?? 0, pos)
    },

    /**
     * Returns up to `limit` positions of the active path after `pos`, in path order; 0 starts at the beginning. `pos`
     * must be on the path. Cost: one row per position, and a number of rows that is logarithmic in the number of later
     * messages.
     */
    listPathAfter(pos: number, limit: number): number[] {
      const tip = readTip()
      const depth = ancestry.readAncestry(pos)?.depth ?? -1
      const positions: number[] = []
      let at = tip === null ? null : ancestry.findAncestor(tip, depth + limit)
      while (at !== null && at !== pos && positions.length < limit) {
        positions.push(at)
        at = ancestry.readAncestry(at)?.parent ?? null
      }
      return positions.reverse()
    },
  }
}

function createMessageWrites({ queryAll }: Database, ancestry: AncestryIndex) {
  return {
    /**
     * Adds a message as the newest of the active path. `isPathOpen` skips one write; the caller must have checked
     * beforehand that the active path ends at the newest row.
     */
    insertMessage(stored: StoredMessage, isPathOpen = false): void {
      const { pos, parent, seq, deadline, message } = stored
      const { depth, jump } = ancestry.findChildAncestry(parent)
      queryAll(
        `INSERT INTO transcript
         (pos, id, role, exchange_id, parent, version, status, reason, seq, words, meta, created, deadline, summary,
          depth, jump, origin, agent)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        pos,
        message.id,
        message.role,
        message.exchange_id,
        parent,
        message.version,
        message.status,
        message.reason,
        seq,
        message.words,
        messageToMeta(message),
        Date.parse(message.timestamp),
        deadline,
        toJsonColumn(message.summary),
        depth,
        jump,
        message.origin,
        toJsonColumn(message.agent),
      )
      ancestry.remember({ pos, parent, depth, jump })
      if (!isPathOpen) queryAll("UPDATE session SET tip = NULL WHERE tip IS NOT NULL")
    },

    /** Writes the status, reason, meta, summary, deadline and usage of a message. */
    updateMessage({ pos, message, seq, deadline, usage }: StoredMessage): void {
      queryAll(
        `UPDATE transcript SET status = ?, reason = ?, seq = ?, meta = ?, summary = ?, deadline = ?, usage = ?
         WHERE pos = ?`,
        message.status,
        message.reason,
        seq,
        messageToMeta(message),
        toJsonColumn(message.summary),
        deadline,
        usageToColumn(usage),
        pos,
      )
    },

    /** `deadline` is in milliseconds since 1970. */
    setDeadline(pos: number, deadline: number): void {
      queryAll("UPDATE transcript SET deadline = ? WHERE pos = ?", deadline, pos)
    },
  }
}
