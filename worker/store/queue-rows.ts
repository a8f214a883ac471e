/**
 * queue-rows.ts: the `queue` and `withdrawn` tables: messages that wait for a turn, and messages withdrawn before their
 * turn started.
 */

import type { Message } from "../../shared/protocol/message.ts"
import { toJsonColumn } from "./columns.ts"
import type { Database } from "./database.ts"
import {
  messageToMeta,
  type QueuedMessage,
  rowToQueuedMessage,
  rowToWithdrawnMessage,
  type StoredMessage,
} from "./row-codec.ts"

/** Turns of users' messages start before turns of agents' messages. */
const START_ORDER = "ORDER BY agent IS NOT NULL, n"

const SENDER_CONDITIONS = { person: "WHERE agent IS NULL", agent: "WHERE agent IS NOT NULL", all: "" }

export function createQueueRows({ queryAll, queryFirst }: Database) {
  return {
    /** Returns all queued messages, in the order in which their turns start. */
    readQueue(): QueuedMessage[] {
      return queryAll(`SELECT * FROM queue ${START_ORDER}`).map(rowToQueuedMessage)
    },

    /** Returns the message whose turn starts next. */
    findNextQueued(): QueuedMessage | null {
      const row = queryFirst(`SELECT * FROM queue ${START_ORDER} LIMIT 1`)
      return row === null ? null : rowToQueuedMessage(row)
    },

    countQueued(sender: keyof typeof SENDER_CONDITIONS = "all"): number {
      return Number(queryFirst(`SELECT count(*) AS n FROM queue ${SENDER_CONDITIONS[sender]}`)?.["n"] ?? 0)
    },

    enqueueMessage(message: Message, seq: number): void {
      queryAll(
        "INSERT INTO queue (id, words, meta, seq, created, agent) VALUES (?, ?, ?, ?, ?, ?)",
        message.id,
        message.words,
        messageToMeta(message),
        seq,
        Date.parse(message.timestamp),
        toJsonColumn(message.agent),
      )
    },

    deleteQueued(n: number): void {
      queryAll("DELETE FROM queue WHERE n = ?", n)
    },

    /**
     * Removes a message from the queue. Its id remains stored, so that a late duplicate of the message is not added
     * again.
     */
    withdrawQueued(id: string, seq: number): void {
      queryAll("DELETE FROM queue WHERE id = ?", id)
      queryAll("INSERT INTO withdrawn (seq, id) VALUES (?, ?)", seq, id)
    },

    readWithdrawnSince(seq: number): StoredMessage[] {
      return queryAll("SELECT * FROM withdrawn WHERE seq > ? ORDER BY seq", seq).map(rowToWithdrawnMessage)
    },
  }
}
