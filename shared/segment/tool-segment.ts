/**
 * tool-segment.ts: what a reader sees of one tool call, and how that changes.
 *
 * call → TOOL SEGMENT → ops
 * Pure.
 */

import { extractResultData } from "../protocol/card-cue.ts"
import type { Op, Segment, SetFields, ToolFields } from "../protocol/segment.ts"
import { MAX_SHOWN_BYTES, MAX_SHOWN_LINES } from "../limits.ts"
import type { ToolCall } from "../protocol/message.ts"
import { createTextHead, truncateLines } from "../truncate.ts"

/**
 * Follows one call and tells its segment as ops.
 *
 * Cost    what is new of its output, and its result once.
 * Source  SPEC SG9, SG11, SG13.
 */
export function createToolSegmenter(at: number): (call: ToolCall) => Op[] {
  let output = createTextHead(MAX_SHOWN_LINES, MAX_SHOWN_BYTES)
  let length = 0
  let shown: ToolFields | null = null
  return (call) => {
    if (call.output.length < length) {
      output = createTextHead(MAX_SHOWN_LINES, MAX_SHOWN_BYTES)
      length = 0
    }
    output.push(call.output.slice(length))
    length = call.output.length
    const before = shown
    const fields = callToFields(call, output.readHead())
    shown = fields
    return before === null
      ? [{ op: "open", at, segment: createToolSegment(call, fields) }]
      : diffToolFields(at, before, fields)
  }
}

function createToolSegment({ call_id, name, args, status }: ToolCall, fields: ToolFields): Segment {
  const shown = truncateLines(args, MAX_SHOWN_LINES, MAX_SHOWN_BYTES).text
  return { type: "tool", call_id, name, args: shown, status, ...fields }
}

/** What a client sees of a call beside its name and arguments. The trailer stays home (law 5). */
function callToFields(call: ToolCall, output: ReturnType<typeof truncateLines>): ToolFields {
  const data = call.result === null ? null : extractResultData({ ...call, result: call.result })
  const result = data === null ? null : truncateLines(data, MAX_SHOWN_LINES, MAX_SHOWN_BYTES)
  const truncated =
    result?.truncated ?? (output.truncated === undefined ? undefined : (call.outputSize ?? output.truncated))
  return {
    status: call.status,
    ...(output.text === "" ? {} : { output: output.text }),
    ...(result === null ? {} : { result: result.text }),
    ...(call.error === null ? {} : { error: call.error }),
    ...(call.approval === null ? {} : { approval: call.approval }),
    ...(truncated === undefined ? {} : { truncated }),
  }
}

/** Output that grew travels as its tail alone; all else as changed fields. */
function diffToolFields(at: number, before: ToolFields, after: ToolFields): Op[] {
  const { output = "", ...rest } = after
  const { output: shown = "", ...restBefore } = before
  const hasGrown = output.length > shown.length && output.startsWith(shown)
  const fields = hasGrown || output === shown ? diffFields(restBefore, rest) : diffFields(before, after)
  const ops: Op[] = hasGrown ? [{ op: "text", at, offset: shown.length, text: output.slice(shown.length) }] : []
  return Object.keys(fields).length === 0 ? ops : [...ops, { op: "set", at, fields }]
}

/** What `set` has to say: new values, and null for what is gone. */
function diffFields(before: ToolFields, after: ToolFields): SetFields {
  const removed = Object.keys(before).flatMap((key) => (key in after ? [] : [[key, null] as const]))
  const changed = Object.entries(after).filter(
    ([key, value]) => JSON.stringify(Reflect.get(before, key)) !== JSON.stringify(value),
  )
  return Object.fromEntries([...removed, ...changed])
}
