/**
 * answer-budget.ts: bounds the size of one answer of another producer.
 *
 * events → BUDGET → intake
 * A file may contain an answer of any size, but a message is folded, stored and read as a whole. Pure.
 */

import type { TurnEvent } from "../../protocol/event.ts"
import { MAX_EXTERNAL_DATA_CHARS, MAX_IMPORTED_CALLS, MAX_IMPORTED_PARTS } from "../../limits.ts"
import type { Message } from "../../protocol/message.ts"

/**
 * Returns a check whether the next event of one answer is within the budget.
 *
 * Cost    constant time per event.
 * Source  SPEC RE36, EX20, EX21.
 */
export function createAnswerBudget(): ({ parts }: Message, event: TurnEvent) => boolean {
  const calls = new Set<string>()
  let data = 0
  const admitData = (text: string | null): boolean => {
    data += text?.length ?? 0
    return data <= MAX_EXTERNAL_DATA_CHARS
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
        return parts.length < MAX_IMPORTED_PARTS || `${parts.at(-1)?.type}_delta` === event.type
      case "tool_call":
        return admitCall(parts, event.call_id) && admitData(event.args)
      case "tool_result":
        return admitCall(parts, event.call_id) && admitData(event.result)
      case "tool_output_delta":
        return admitData(event.delta)
      case "tool_call_start":
      case "tool_approval":
        // The event of a dropped call would change nothing, but `fold` would search all parts for it.
        return calls.size < MAX_IMPORTED_CALLS || calls.has(event.call_id)
      case "step_start":
      case "text_done":
      case "thinking_done":
      case "summary":
      case "end":
        return true
    }
  }
}
