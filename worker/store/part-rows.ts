/**
 * part-rows.ts: the `leaf` and `tool_calls` tables: the parts of a message, each row with the seq of its last change.
 *
 * The table `leaf` stores text chunks (text-chunks.ts).
 */

import type { ToolCall } from "../../shared/protocol/message.ts"
import type { PartTimes } from "../../shared/protocol/part-times.ts"
import { toJsonColumn } from "./columns.ts"
import type { Database, Row } from "./database.ts"
import { chunkToOpenColumn, rowToChunk, type TextChunk } from "./row-codec.ts"

export function createPartRows(database: Database) {
  const { queryAll } = database
  return {
    ...createChunkRows(database),
    ...createCallRows(database),

    /** Copies the parts of the first `steps` steps of the message at `from` to the message at `to`. */
    copySteps(from: number, to: number, steps: number, seq: number): void {
      queryAll(
        `INSERT INTO leaf (pos, part, n, kind, step, seq, open, ms, held, text, grants, times)
         SELECT ?, part, n, kind, step, ?, 0, ms, NULL, text, grants, times FROM leaf WHERE pos = ? AND step <= ?`,
        to,
        seq,
        from,
        steps,
      )
      queryAll(
        `INSERT INTO tool_calls (pos, part, step, seq, call_id, name, args, result, status, error, ordinal, card, channel,
           ephemeral, approval, output_size, media, times)
         SELECT ?, part, step, ?, call_id, name, args, result, status, error, ordinal, card, channel,
           ephemeral, approval, output_size, media, times FROM tool_calls WHERE pos = ? AND step <= ?`,
        to,
        seq,
        from,
        steps,
      )
    },
  }
}

function createChunkRows({ queryAll, queryFirst }: Database) {
  return {
    readChunkRows(pos: number): Row[] {
      return queryAll("SELECT * FROM leaf WHERE pos = ? ORDER BY part, n", pos)
    },

    putChunk(pos: number, seq: number, chunk: TextChunk): void {
      queryAll(
        `INSERT OR REPLACE INTO leaf (pos, part, n, kind, step, seq, open, ms, held, text, grants, times)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        pos,
        chunk.part,
        chunk.n,
        chunk.kind,
        chunk.step,
        seq,
        chunkToOpenColumn(chunk),
        chunk.ms,
        chunk.held,
        chunk.text,
        toJsonColumn(chunk.grants ?? null),
        toJsonColumn(chunk.times ?? null),
      )
    },

    /** Deletes the chunks of a part whose text is rewritten from the start. */
    deleteChunks(pos: number, part: number): void {
      queryAll("DELETE FROM leaf WHERE pos = ? AND part = ?", pos, part)
    },

    /**
     * Returns the last chunk of the open part; null if none is open. A restarted object continues from the state of
     * `clean` that the chunk contains.
     */
    findOpenChunk(pos: number): TextChunk | null {
      const row = queryFirst("SELECT * FROM leaf WHERE pos = ? ORDER BY part DESC, n DESC LIMIT 1", pos)
      return row === null || row["open"] !== 1 ? null : rowToChunk(row)
    },

    /** Returns the last chunk of a part. */
    findLastChunk(pos: number, part: number): TextChunk | null {
      const row = queryFirst("SELECT * FROM leaf WHERE pos = ? AND part = ? ORDER BY n DESC LIMIT 1", pos, part)
      return row === null ? null : rowToChunk(row)
    },
  }
}

function createCallRows({ queryAll, queryFirst }: Database) {
  return {
    readCallRows(pos: number): Row[] {
      return queryAll("SELECT * FROM tool_calls WHERE pos = ? ORDER BY part", pos)
    },

    /** Whether a call of the message has no final result. */
    hasOpenCallAt(pos: number): boolean {
      const query = "SELECT 1 FROM tool_calls WHERE pos = ? AND status IN ('queued', 'running', 'waiting') LIMIT 1"
      return queryFirst(query, pos) !== null
    },

    /** Returns the position of the next message after `pos` with a call waiting for its final result, or null. */
    findWaitingCallAfter(pos: number): number | null {
      const row = queryFirst(
        "SELECT pos FROM tool_calls WHERE pos > ? AND status = 'waiting' ORDER BY pos LIMIT 1",
        pos,
      )
      return row === null ? null : Number(row["pos"])
    },

    /** Stores a call. `usage` is the column value for the turn's model calls so far. */
    putCall(
      pos: number,
      part: number,
      step: number,
      seq: number,
      call: ToolCall,
      times?: PartTimes,
      usage: string | null = null,
    ): void {
      queryAll(
        `INSERT OR REPLACE INTO tool_calls
         (pos, part, step, seq, call_id, name, args, result, status, error, ordinal, card, channel, ephemeral,
          approval, output_size, media, times, usage)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        pos,
        part,
        step,
        seq,
        call.call_id,
        call.name,
        call.args,
        call.result,
        call.status,
        toJsonColumn(call.error),
        call.ordinal,
        call.card,
        call.channel,
        call.ephemeral ? 1 : 0,
        call.approval,
        toJsonColumn(call.outputSize),
        call.media.length === 0 ? null : toJsonColumn(call.media),
        toJsonColumn(times ?? null),
        usage,
      )
    },
  }
}
