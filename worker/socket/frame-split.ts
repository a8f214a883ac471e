/**
 * frame-split.ts: a frame over the limit, cut into frames that fit.
 *
 * A whole message goes as its header (no segments, `pieces: n`) and n ops frames that bring them; a wide ops frame goes
 * as several of the same kind. All carry the frame's seq; a client counts it as reached with the last piece (SPEC WS5).
 */

import { type Op, type Segment, readSegmentText } from "../../shared/protocol/segment.ts"
import { parseServerFrame } from "../../shared/protocol/server-frame.ts"
import { countUtf8Bytes } from "../../shared/truncate.ts"

/** Text in one piece, in UTF-16 code units: at six bytes each when escaped, well under the frame limit. */
const FRAGMENT_CHARS = 32 * 1024

/**
 * Shapes  (frame JSON, limit in bytes) → frames; the frame itself where it fits.
 * Cost    linear in the frame.
 */
export function splitFrame(text: string, maxBytes: number): readonly string[] {
  if (countUtf8Bytes(text) <= maxBytes) return [text]
  const frame = parseServerFrame(text)
  if (frame === null || (frame.type !== "message" && frame.type !== "ops")) return [text]
  const { seq, prev } = frame
  const message = frame.type === "message" ? frame.id : frame.message
  const ops = frame.type === "message" ? frame.segments.flatMap(segmentToOps) : frame.ops.flatMap(splitOp)
  const groups = groupOps(ops, maxBytes / 2)
  const fragments = groups.map((group, i) =>
    JSON.stringify({ type: "ops", seq, prev, message, piece: i + 1, pieces: groups.length, ops: group }),
  )
  if (frame.type === "ops") return fragments
  if (groups.length === 0) return [JSON.stringify({ ...frame, content: "" })]
  // `content` may itself be over the limit; who needs it reads history.
  return [JSON.stringify({ ...frame, content: "", segments: [], pieces: groups.length }), ...fragments]
}

function segmentToOps(segment: Segment, at: number): Op[] {
  const content = readSegmentText(segment)
  const empty: Segment | null =
    segment.type === "text" || segment.type === "thinking"
      ? { ...segment, content: "" }
      : segment.type === "rich"
        ? { ...segment, synthesis: "" }
        : null
  // A tool's texts are bounded (MAX_SHOWN_BYTES): it goes in one.
  if (empty === null || content.length <= FRAGMENT_CHARS) return [{ op: "open", at, segment }]
  return [{ op: "open", at, segment: empty }, ...splitText(at, 0, content)]
}

function splitOp(op: Op): Op[] {
  if (op.op === "text" && op.text.length > FRAGMENT_CHARS) return splitText(op.at, op.offset, op.text)
  return op.op === "open" ? segmentToOps(op.segment, op.at) : [op]
}

function splitText(at: number, from: number, content: string): Op[] {
  const ops: Op[] = []
  for (let start = 0; start < content.length; ) {
    let end = Math.min(start + FRAGMENT_CHARS, content.length)
    const codeUnit = content.charCodeAt(end - 1)
    if (end < content.length && codeUnit >= 0xd800 && codeUnit < 0xdc00) end -= 1
    ops.push({ op: "text", at, offset: from + start, text: content.slice(start, end) })
    start = end
  }
  return ops
}

function groupOps(ops: readonly Op[], maxBytes: number): Op[][] {
  const groups: Op[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const op of ops) {
    const size = countUtf8Bytes(JSON.stringify(op))
    if (bytes + size > maxBytes) {
      groups.push([])
      bytes = 0
    }
    groups.at(-1)?.push(op)
    bytes += size
  }
  return groups
}
