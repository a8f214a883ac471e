/**
 * frame-split.ts: a frame over the limit, cut into frames that fit.
 *
 * A whole message goes as its header (no segments, `pieces: n`) and n ops frames that bring them; a wide ops frame goes
 * as several of the same kind. All carry the frame's seq; a client counts it as reached with the last piece (SPEC WS5).
 */

import { type Op, parseServerFrame, type Segment, textOf } from "../../shared/protocol/frame.ts"
import { utf8Bytes } from "../../shared/truncate.ts"

/** Text in one piece, in UTF-16 code units: at six bytes each when escaped, well under the frame limit. */
const PIECE_CHARS = 32 * 1024

/**
 * Shapes  (frame JSON, limit in bytes) → frames; the frame itself where it fits.
 * Cost    linear in the frame.
 */
export function piecesOf(text: string, maxBytes: number): readonly string[] {
  if (utf8Bytes(text) <= maxBytes) return [text]
  const frame = parseServerFrame(text)
  if (frame === null || (frame.type !== "message" && frame.type !== "ops")) return [text]
  const { seq, prev } = frame
  const message = frame.type === "message" ? frame.id : frame.message
  const ops = frame.type === "message" ? frame.segments.flatMap(openOps) : frame.ops.flatMap(narrowOps)
  const groups = groupOps(ops, maxBytes / 2)
  const pieces = groups.map((group, i) =>
    JSON.stringify({ type: "ops", seq, prev, message, piece: i + 1, pieces: groups.length, ops: group }),
  )
  if (frame.type === "ops") return pieces
  if (groups.length === 0) return [JSON.stringify({ ...frame, content: "" })]
  // `content` may itself be over the limit; who needs it reads history.
  return [JSON.stringify({ ...frame, content: "", segments: [], pieces: groups.length }), ...pieces]
}

function openOps(segment: Segment, at: number): Op[] {
  const whole = textOf(segment)
  const empty: Segment | null =
    segment.type === "text" || segment.type === "thinking"
      ? { ...segment, content: "" }
      : segment.type === "rich"
        ? { ...segment, synthesis: "" }
        : null
  // A tool's texts are bounded (MAX_SHOWN_BYTES): it goes in one.
  if (empty === null || whole.length <= PIECE_CHARS) return [{ op: "open", at, segment }]
  return [{ op: "open", at, segment: empty }, ...textOps(at, 0, whole)]
}

function narrowOps(op: Op): Op[] {
  if (op.op === "text" && op.text.length > PIECE_CHARS) return textOps(op.at, op.offset, op.text)
  return op.op === "open" ? openOps(op.segment, op.at) : [op]
}

function textOps(at: number, from: number, whole: string): Op[] {
  const ops: Op[] = []
  for (let start = 0; start < whole.length; ) {
    let end = Math.min(start + PIECE_CHARS, whole.length)
    const unit = whole.charCodeAt(end - 1)
    if (end < whole.length && unit >= 0xd800 && unit < 0xdc00) end -= 1
    ops.push({ op: "text", at, offset: from + start, text: whole.slice(start, end) })
    start = end
  }
  return ops
}

function groupOps(ops: readonly Op[], maxBytes: number): Op[][] {
  const groups: Op[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const op of ops) {
    const size = utf8Bytes(JSON.stringify(op))
    if (bytes + size > maxBytes) {
      groups.push([])
      bytes = 0
    }
    groups.at(-1)?.push(op)
    bytes += size
  }
  return groups
}
