/**
 * answer-budget.ts: bounds the size of one answer of another producer.
 *
 * events → BUDGET → intake
 * A file may contain an answer of any size, but a message is folded, stored and read as a whole. Pure.
 */

import type { TurnEvent } from "../../protocol/event.ts"
import { MAX_ANSWER_CHARS, MAX_EXTERNAL_DATA_CHARS, MAX_IMPORTED_CALLS, MAX_IMPORTED_PARTS } from "../../limits.ts"
import type { Message } from "../../protocol/message.ts"

/** Maximum number of starts, approvals and results of an imported answer's calls, and of pieces of their output: folding searches the calls for each. The rest are dropped. SPEC RE36. */
export const MAX_IMPORTED_CALL_EVENTS = 6 * MAX_IMPORTED_CALLS
export const MAX_IMPORTED_OUTPUTS = 10_000

/** Maximum text and thinking of an imported answer, in UTF-16 code units: the longest answer of a model with each character escaped (`&lt;`). The rest is dropped. SPEC RE36. */
export const MAX_IMPORTED_TEXT_CHARS = 4 * MAX_ANSWER_CHARS

type DeltaEvent = Extract<TurnEvent, { type: "text_delta" | "thinking_delta" }>

/**
 * Returns a check whether the next event of one answer is within the budget.
 *
 * Cost: constant time per event.
 * Source: SPEC RE36, EX20, EX21.
 */
export function createAnswerBudget(): ({ parts }: Message, event: TurnEvent) => boolean {
  const calls = new Set<string>()
  let [data, text, callEvents, outputs] = [0, 0, 0, 0]
  const admitData = (result: string | null): boolean => {
    data += result?.length ?? 0
    return data <= MAX_EXTERNAL_DATA_CHARS
  }
  const admitText = (parts: Message["parts"], { type, delta }: DeltaEvent): boolean => {
    const last = parts.at(-1)
    const isContinued = last !== undefined && last.type !== "tool_call" && last.open && type === `${last.type}_delta`
    if (!isContinued && parts.length >= MAX_IMPORTED_PARTS) return false
    text += delta.length
    return text <= MAX_IMPORTED_TEXT_CHARS
  }
  const admitCallEvent = (call_id: string): boolean => {
    // The event of a dropped call would change nothing, but `fold` would search all parts for it.
    if (calls.size >= MAX_IMPORTED_CALLS && !calls.has(call_id)) return false
    callEvents += 1
    return callEvents <= MAX_IMPORTED_CALL_EVENTS
  }
  const admitOutput = (delta: string): boolean => {
    outputs += 1
    return outputs <= MAX_IMPORTED_OUTPUTS && admitData(delta)
  }
  const admitCall = (parts: Message["parts"], call_id: string): boolean => {
    if (calls.has(call_id)) return true
    if (calls.size >= MAX_IMPORTED_CALLS || parts.length >= MAX_IMPORTED_PARTS) return false
    calls.add(call_id)
    return true
  }
  return ({ parts }, event) => {
    switch (event.type) {
      case "text_delta":
      case "thinking_delta":
        return admitText(parts, event)
      case "tool_call":
        return admitCall(parts, event.call_id) && admitData(event.args)
      case "tool_result":
        return admitCall(parts, event.call_id) && admitCallEvent(event.call_id) && admitData(event.result)
      case "tool_output_delta":
        return admitOutput(event.delta)
      case "tool_call_start":
      case "tool_approval":
        return admitCallEvent(event.call_id)
      case "step_start":
      case "text_done":
      case "thinking_done":
      case "summary":
      case "end":
        return true
    }
  }
}
