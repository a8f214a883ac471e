/**
 * part-rows.ts: the rows of a message's parts: its texts in leaves, its calls, each with the seq of its last change.
 */

import type { ToolCall } from "../../shared/protocol/message.ts"
import { type Leaf, leafOf, openOf, type Row, toJson } from "./row-codec.ts"

type All = (query: string, ...bindings: SqlStorageValue[]) => Row[]

export function createPartRows(all: All) {
  return {
    leavesAt(pos: number): Row[] {
      return all("SELECT * FROM leaf WHERE pos = ? ORDER BY part, n", pos)
    },

    callsAt(pos: number): Row[] {
      return all("SELECT * FROM tool_calls WHERE pos = ? ORDER BY part", pos)
    },

    /** Gives the message at `to` the parts of the first `steps` steps of the one at `from`. */
    copySteps(from: number, to: number, steps: number, seq: number): void {
      all(
        `INSERT INTO leaf (pos, part, n, kind, step, seq, open, ms, held, text, grants)
         SELECT ?, part, n, kind, step, ?, 0, ms, NULL, text, grants FROM leaf WHERE pos = ? AND step <= ?`,
        ...[to, seq, from, steps],
      )
      all(
        `INSERT INTO tool_calls (pos, part, step, seq, call_id, name, args, result, status, error, ordinal, card, channel,
           ephemeral, approval, output_size, media)
         SELECT ?, part, step, ?, call_id, name, args, result, status, error, ordinal, card, channel,
           ephemeral, approval, output_size, media FROM tool_calls WHERE pos = ? AND step <= ?`,
        ...[to, seq, from, steps],
      )
    },

    putLeaf(pos: number, seq: number, leaf: Leaf): void {
      all(
        `INSERT OR REPLACE INTO leaf (pos, part, n, kind, step, seq, open, ms, held, text, grants)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        ...[pos, leaf.part, leaf.n, leaf.kind, leaf.step, seq, openOf(leaf), leaf.ms, leaf.held, leaf.text],
        toJson(leaf.grants ?? null),
      )
    },

    /** A part that begins anew. */
    dropLeaves(pos: number, part: number): void {
      all("DELETE FROM leaf WHERE pos = ? AND part = ?", pos, part)
    },

    putCall(pos: number, part: number, step: number, seq: number, call: ToolCall): void {
      all(
        `INSERT OR REPLACE INTO tool_calls
         (pos, part, step, seq, call_id, name, args, result, status, error, ordinal, card, channel, ephemeral,
          approval, output_size, media)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        ...[pos, part, step, seq, call.call_id, call.name, call.args, call.result, call.status, toJson(call.error)],
        ...[call.ordinal, call.card, call.channel, call.ephemeral ? 1 : 0, call.approval, toJson(call.outputSize)],
        call.media.length === 0 ? null : toJson(call.media),
      )
    },

    /** The last leaf of the part that is still open, with what clean held: where a fresh object goes on. */
    openLeaf(pos: number): Leaf | null {
      const [row] = all("SELECT * FROM leaf WHERE pos = ? ORDER BY part DESC, n DESC LIMIT 1", pos)
      return row === undefined || row["open"] !== 1 ? null : leafOf(row)
    },

    /** The last leaf of a part. */
    lastLeaf(pos: number, part: number): Leaf | null {
      const [row] = all("SELECT * FROM leaf WHERE pos = ? AND part = ? ORDER BY n DESC LIMIT 1", pos, part)
      return row === undefined ? null : leafOf(row)
    },

    /** Sizes of a part's leaves, in UTF-16 code units, in order. */
    leafSizes(pos: number, part: number): { readonly n: number; readonly chars: number }[] {
      const leaves = all("SELECT * FROM leaf WHERE pos = ? AND part = ? ORDER BY n", pos, part).map(leafOf)
      return leaves.map(({ n, text }) => ({ n, chars: text.length }))
    },
  }
}
