/**
 * apply-ops.ts: applies ops to segments and messages.
 *
 * server: segmenter → ops → frame → client: APPLY → view
 * The server and the page use the same code, so both have the same segments.
 */

import { type Op, readSegmentText, type Segment, type SetFields } from "./segment.ts"
import type { WireMessage } from "./server-frame.ts"

/**
 * Applies ops to a list of segments. Returns a new list; segments that did not change keep their identity.
 *
 * Throws a `RangeError` if an op does not fit (wrong offset, missing segment). In that case, the client's state differs
 * from the server's, and the client must resume. Cost: linear in the number of segments and ops. SPEC WS6.
 */
export function apply(segments: readonly Segment[], ops: readonly Op[]): Segment[] {
  const next = [...segments]
  for (const op of ops) {
    switch (op.op) {
      case "open":
        if (op.at !== next.length) throw new RangeError(`open at ${op.at} of ${next.length}`)
        next.push(op.segment)
        break
      case "text":
        next[op.at] = appendText(next[op.at], op.offset, op.text)
        break
      case "set":
        next[op.at] = setFields(next[op.at], op.fields)
        break
      case "cut":
        if (op.to > next.length) throw new RangeError(`cut to ${op.to} of ${next.length}`)
        next.length = op.to
        break
      case "meta":
      case "end":
        break
    }
  }
  return next
}

/** Applies ops to a message: `meta` and `end` to its fields, all others to its segments. */
export function applyToMessage(message: WireMessage, ops: readonly Op[]): WireMessage {
  let next: WireMessage = { ...message, segments: apply(message.segments, ops) }
  for (const op of ops) {
    if (op.op === "meta") {
      const { op: _, ...fields } = op
      next = { ...next, ...fields }
    }
    if (op.op === "end") next = { ...next, status: op.status, reason: op.reason, metrics: op.metrics }
  }
  return next
}

function appendText(segment: Segment | undefined, offset: number, text: string): Segment {
  if (segment === undefined) throw new RangeError("text for a missing segment")
  const current = readSegmentText(segment)
  if (current.length !== offset) throw new RangeError(`text at ${offset} of ${current.length}`)
  switch (segment.type) {
    case "text":
    case "thinking":
    case "agent":
      return { ...segment, content: current + text }
    case "rich":
      return { ...segment, synthesis: current + text }
    case "tool":
      return { ...segment, output: current + text }
    case "canvas":
    case "media":
    case "source":
      throw new RangeError(`text for a ${segment.type} segment`)
  }
}

function setFields(segment: Segment | undefined, fields: SetFields): Segment {
  if (segment === undefined) throw new RangeError("set for a missing segment")
  // The server only sets fields that belong to the segment's type.
  const merged = Object.entries({ ...segment, ...fields }).filter(([, value]) => value !== null)
  return Object.fromEntries(merged) as unknown as Segment
}
