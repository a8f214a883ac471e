/**
 * part-rows.ts: the rows of a message's parts: its texts in leaves, its calls, each with the seq of its last change.
 */

import type { ToolCall } from "../../shared/protocol/message.ts"
import { type TextChunk, rowToChunk, chunkToOpenColumn, type Row, toJsonColumn } from "./row-codec.ts"

type QueryAll = (query: string, ...bindings: SqlStorageValue[]) => Row[]

export function createPartRows(queryAll: QueryAll) {
  return {
    readChunkRows(pos: number): Row[] {
      return queryAll("SELECT * FROM leaf WHERE pos = ? ORDER BY part, n", pos)
    },

    readCallRows(pos: number): Row[] {
      return queryAll("SELECT * FROM tool_calls WHERE pos = ? ORDER BY part", pos)
    },

    /** Gives the message at `to` the parts of the first `steps` steps of the one at `from`. */
    copySteps(from: number, to: number, steps: number, seq: number): void {
      queryAll(
        `INSERT INTO leaf (pos, part, n, kind, step, seq, open, ms, held, text, grants)
         SELECT ?, part, n, kind, step, ?, 0, ms, NULL, text, grants FROM leaf WHERE pos = ? AND step <= ?`,
        ...[to, seq, from, steps],
      )
      queryAll(
        `INSERT INTO tool_calls (pos, part, step, seq, call_id, name, args, result, status, error, ordinal, card, channel,
           ephemeral, approval, output_size, media)
         SELECT ?, part, step, ?, call_id, name, args, result, status, error, ordinal, card, channel,
           ephemeral, approval, output_size, media FROM tool_calls WHERE pos = ? AND step <= ?`,
        ...[to, seq, from, steps],
      )
    },

    putChunk(pos: number, seq: number, chunk: TextChunk): void {
      queryAll(
        `INSERT OR REPLACE INTO leaf (pos, part, n, kind, step, seq, open, ms, held, text, grants)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        ...[
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
        ],
        toJsonColumn(chunk.grants ?? null),
      )
    },

    /** A part that begins anew. */
    deleteChunks(pos: number, part: number): void {
      queryAll("DELETE FROM leaf WHERE pos = ? AND part = ?", pos, part)
    },

    putCall(pos: number, part: number, step: number, seq: number, call: ToolCall): void {
      queryAll(
        `INSERT OR REPLACE INTO tool_calls
         (pos, part, step, seq, call_id, name, args, result, status, error, ordinal, card, channel, ephemeral,
          approval, output_size, media)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        ...[
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
        ],
        ...[
          call.ordinal,
          call.card,
          call.channel,
          call.ephemeral ? 1 : 0,
          call.approval,
          toJsonColumn(call.outputSize),
        ],
        call.media.length === 0 ? null : toJsonColumn(call.media),
      )
    },

    /** The last leaf of the part that is still open, with what clean held: where a fresh object goes on. */
    findOpenChunk(pos: number): TextChunk | null {
      const [row] = queryAll("SELECT * FROM leaf WHERE pos = ? ORDER BY part DESC, n DESC LIMIT 1", pos)
      return row === undefined || row["open"] !== 1 ? null : rowToChunk(row)
    },

    /** The last leaf of a part. */
    findLastChunk(pos: number, part: number): TextChunk | null {
      const [row] = queryAll("SELECT * FROM leaf WHERE pos = ? AND part = ? ORDER BY n DESC LIMIT 1", pos, part)
      return row === undefined ? null : rowToChunk(row)
    },

    /** Sizes of a part's leaves, in UTF-16 code units, in order. */
    readChunkSizes(pos: number, part: number): { readonly n: number; readonly chars: number }[] {
      const chunks = queryAll("SELECT * FROM leaf WHERE pos = ? AND part = ? ORDER BY n", pos, part).map(rowToChunk)
      return chunks.map(({ n, text }) => ({ n, chars: text.length }))
    },
  }
}
