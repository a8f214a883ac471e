/**
 * producer-rows.ts: the `producer` table: one row per answer of an external producer, with the number of the last
 * accepted record.
 */

import type { Database } from "./database.ts"
import { type ExternalAnswer, rowToExternalAnswer } from "./row-codec.ts"

/** Value of `told` for an answer that waits for a program to claim it. */
const UNCLAIMED = -1

export function createProducerRows({ queryAll, queryFirst }: Database) {
  return {
    insertProducer(pos: number, exchangeId: string): void {
      queryAll("INSERT INTO producer (pos, told, exchange) VALUES (?, 0, ?)", pos, exchangeId)
    },

    /** Adds the row of an answer that waits for a program (SPEC EA2). */
    insertUnclaimed(pos: number, exchangeId: string): void {
      queryAll("INSERT INTO producer (pos, told, exchange) VALUES (?, ?, ?)", pos, UNCLAIMED, exchangeId)
    },

    isUnclaimed(pos: number): boolean {
      return queryFirst("SELECT told FROM producer WHERE pos = ?", pos)?.["told"] === UNCLAIMED
    },

    claimAnswer(pos: number): void {
      queryAll("UPDATE producer SET told = 0 WHERE pos = ? AND told = ?", pos, UNCLAIMED)
    },

    /** Returns the number of the last accepted record; 0 if there is none. */
    readAckedRecord(pos: number): number {
      return Math.max(Number(queryFirst("SELECT told FROM producer WHERE pos = ?", pos)?.["told"] ?? 0), 0)
    },

    setAckedRecord(pos: number, ackedRecord: number): void {
      queryAll("UPDATE producer SET told = ? WHERE pos = ?", ackedRecord, pos)
    },

    /** Returns the position of the newest external answer of an exchange; null if it has none. */
    findExternalAnswerPos(exchangeId: string): number | null {
      const row = queryFirst("SELECT pos FROM producer WHERE exchange = ? ORDER BY pos DESC LIMIT 1", exchangeId)
      return row === null ? null : Number(row["pos"])
    },

    /** Returns an external answer without its parts; null if no external answer has this id. */
    findExternalAnswer(id: string): ExternalAnswer | null {
      const row = queryFirst(
        `SELECT t.pos, t.exchange_id, t.status, t.reason, p.told
         FROM transcript t JOIN producer p ON p.pos = t.pos WHERE t.id = ?`,
        id,
      )
      return row === null ? null : rowToExternalAnswer(row)
    },
  }
}
