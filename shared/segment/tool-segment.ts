/**
 * tool-segment.ts: converts a tool call to a segment, and changes to the call to ops. Pure.
 */

import { isApp, isAsset } from "../protocol/asset.ts"
import { canvasUrl } from "../protocol/asset-url.ts"
import { extractResultData } from "../protocol/card-cue.ts"
import type { Op, Segment, SetFields, ToolFields } from "../protocol/segment.ts"
import { MAX_SHOWN_BYTES, MAX_SHOWN_LINES } from "../limits.ts"
import { isAsking, type ToolCall } from "../protocol/message.ts"
import { createTextHead, type TextSize, truncateLines, type TruncatedText } from "../truncate.ts"

/**
 * Creates a function that follows one call and returns the changes to its segment as ops.
 *
 * Cost: linear in the length of new output and, once, in the length of the result.
 * Source: SPEC SG9, SG11, SG13.
 */
export function createToolSegmenter(at: number): (call: ToolCall) => Op[] {
  let output = createTextHead(MAX_SHOWN_LINES, MAX_SHOWN_BYTES)
  let length = 0
  let shown: ShownFields | null = null
  let args: { readonly whole: string; readonly head: string } | null = null
  return (call) => {
    if (args?.whole !== call.args) {
      args = { whole: call.args, head: truncateLines(call.args, MAX_SHOWN_LINES, MAX_SHOWN_BYTES).text }
    }
    if (call.output.length < length) {
      output = createTextHead(MAX_SHOWN_LINES, MAX_SHOWN_BYTES)
      length = 0
    }
    output.push(call.output.slice(length))
    length = call.output.length
    const before = shown
    const fields = callToFields(call, args.head, output.readHead())
    shown = fields
    return before === null
      ? [{ op: "open", at, segment: { type: "tool", call_id: call.call_id, ...fields } }]
      : diffToolFields(at, before, fields)
  }
}

type ShownFields = ToolFields & Pick<Extract<Segment, { type: "tool" }>, "name" | "args" | "status">

/** Returns the fields of a call that may change. The result's trailer is removed (SPEC SG11). */
function callToFields(call: ToolCall, args: string, output: ReturnType<typeof truncateLines>): ShownFields {
  const data = call.result === null ? null : extractResultData({ ...call, result: call.result })
  const result = data === null ? null : truncateLines(data, MAX_SHOWN_LINES, MAX_SHOWN_BYTES)
  const truncated = chooseWholeSize(call, result, output)
  const app = call.media.filter(isAsset).find(isApp)
  return {
    name: call.name,
    args,
    status: call.status,
    ...(output.text === "" ? {} : { output: output.text }),
    ...(result === null ? {} : { result: result.text }),
    ...(call.error === null ? {} : { error: call.error }),
    ...(call.approval === null ? {} : { approval: call.approval }),
    ...(isAsking(call) && call.input !== undefined ? { input: call.input } : {}),
    ...(truncated === undefined ? {} : { truncated }),
    ...(app === undefined ? {} : { app: canvasUrl(app.id) }),
  }
}

/**
 * Returns the full size if only part of the output or result is shown. Output that was stored only in part is always
 * shortened for display, too. Therefore, if `output` isn't shortened, `outputSize` is the size of the result, as
 * reported by the producer that shortened it (SPEC IH8).
 */
function chooseWholeSize(
  { outputSize }: ToolCall,
  result: TruncatedText | null,
  output: TruncatedText,
): TextSize | undefined {
  if (output.truncated === undefined) return outputSize ?? result?.truncated
  return result?.truncated ?? outputSize ?? output.truncated
}

/**
 * Returns the ops for the changed fields. If output has grown, only its new end is sent; all other changes are sent as
 * fields.
 */
function diffToolFields(at: number, before: ToolFields, after: ToolFields): Op[] {
  const { output = "", ...rest } = after
  const { output: shown = "", ...restBefore } = before
  const hasGrown = output.length > shown.length && output.startsWith(shown)
  const fields = hasGrown || output === shown ? diffFields(restBefore, rest) : diffFields(before, after)
  const ops: Op[] = hasGrown ? [{ op: "text", at, offset: shown.length, text: output.slice(shown.length) }] : []
  return Object.keys(fields).length === 0 ? ops : [...ops, { op: "set", at, fields }]
}

/** Returns the fields of a `set` op: new values, and null for removed fields. */
function diffFields(before: ToolFields, after: ToolFields): SetFields {
  const removed = Object.keys(before).flatMap((key) => (key in after ? [] : [[key, null] as const]))
  const changed = Object.entries(after).filter(
    ([key, value]) => JSON.stringify(Reflect.get(before, key)) !== JSON.stringify(value),
  )
  return Object.fromEntries([...removed, ...changed])
}
