/** change-rows.ts: the last seq of a session, and the `late` table: changes to messages that had already ended. */

import { MAX_LATE_CHANGES } from "../../shared/limits.ts"
import type { Database } from "./database.ts"
import { readNewestPos } from "./message-rows.ts"
import { rowToSeq } from "./row-codec.ts"

export function createChangeRows(database: Database) {
  const { queryAll, queryFirst } = database
  return {
    /**
     * Records that a message changed after it had ended. A client that reconnects learns of the change, and the
     * change's seq is not assigned again.
     */
    recordLateChange(seq: number, pos: number): void {
      queryAll("UPDATE session SET late_seq = ?", seq)
      queryAll("INSERT INTO late (seq, pos) VALUES (?, ?)", seq, pos)
      queryAll(
        "DELETE FROM late WHERE seq <= (SELECT seq FROM late ORDER BY seq DESC LIMIT 1 OFFSET ?)",
        MAX_LATE_CHANGES,
      )
    },

    /** Returns positions of messages with a late change after `seq`; null if the table does not reach back that far. */
    readLateChanges(seq: number): number[] | null {
      const rows = queryAll("SELECT pos FROM late WHERE seq > ? ORDER BY seq", seq)
      return rows.length < MAX_LATE_CHANGES ? [...new Set(rows.map((row) => Number(row["pos"])))] : null
    },

    /** Returns the highest seq ever assigned, from the few rows that can contain it. */
    readLastSeq(): number {
      const row = queryFirst(
        `SELECT max(
           coalesce((SELECT seq FROM transcript WHERE pos = ?1), 0), coalesce((SELECT max(seq) FROM leaf WHERE pos = ?1), 0),
           coalesce((SELECT max(seq) FROM tool_calls WHERE pos = ?1), 0), coalesce((SELECT max(seq) FROM queue), 0),
           coalesce((SELECT max(seq) FROM withdrawn), 0), coalesce((SELECT late_seq FROM session), 0)) AS seq`,
        readNewestPos(database),
      )
      return row === null ? 0 : rowToSeq(row)
    },
  }
}
