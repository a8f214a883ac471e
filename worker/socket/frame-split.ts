/**
 * frame-split.ts: splits a frame over the limit into frames that fit (SPEC WS5).
 *
 * A message becomes its header (no segments, `pieces: n`) and n ops frames that open its segments. An ops frame becomes
 * several ops frames. All have the frame's seq.
 */

import { cutText } from "../../shared/text/cut-text.ts"
import { countUtf8Bytes } from "../../shared/truncate.ts"
import { type Op, readSegmentText, type Segment } from "../../shared/protocol/segment.ts"
import { parseServerFrame } from "../../shared/protocol/server-frame.ts"

/**
 * Maximum length of one op's text, in UTF-16 code units. Even with six bytes per code unit, when escaped, the text is
 * well under the frame limit.
 */
const FRAGMENT_CHARS = 32 * 1024

/**
 * Splits a frame's JSON into frames. Returns the frame itself if it has at most `maxBytes`.
 *
 * Cost: linear in the size of the frame.
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
  // `content` alone may be over the limit. A client that needs it reads history.
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
  // A tool segment is not split, because its text is bounded by MAX_SHOWN_BYTES.
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
    const text = cutText(content.slice(start, start + FRAGMENT_CHARS + 1), FRAGMENT_CHARS)
    ops.push({ op: "text", at, offset: from + start, text })
    start += text.length
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
