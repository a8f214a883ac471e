/**
 * answer-budget.ts: bounds the size of one answer of another producer.
 *
 * events → BUDGET → intake
 * A file may contain an answer of any size, but a message is folded, stored and read as a whole. Pure.
 */

import type { TurnEvent } from "../../protocol/event.ts"
import { MAX_ANSWER_CHARS, MAX_EXTERNAL_DATA_CHARS, MAX_IMPORTED_CALLS, MAX_IMPORTED_PARTS } from "../../limits.ts"
import type { Message } from "../../protocol/message.ts"
import type { LostKind } from "../history/kind-counts.ts"

/**
 * Maximum number of starts, approvals and results of an imported answer's calls, and of pieces of their output: folding
 * searches the calls for each. Any more are dropped. SPEC RE36.
 */
export const MAX_IMPORTED_CALL_EVENTS = 6 * MAX_IMPORTED_CALLS
export const MAX_IMPORTED_OUTPUTS = 10_000

/** Maximum text and thinking of an imported answer, in UTF-16 code units: the longest answer of a model with each character escaped (`&lt;`). The rest is dropped. SPEC RE36. */
export const MAX_IMPORTED_TEXT_CHARS = 4 * MAX_ANSWER_CHARS

type DeltaEvent = Extract<TurnEvent, { type: "text_delta" | "thinking_delta" }>

/** Null: the event is kept. `dropped_call`: it belongs to a dropped call, which was already counted as one loss. */
export type BudgetLoss = LostKind | "dropped_call" | null

/**
 * Returns a check that names what is lost with the next event of one answer because it is beyond the budget.
 *
 * Cost: constant time per event.
 * Source: SPEC RE36, EX20, EX21.
 */
export function createAnswerBudget(): ({ parts }: Message, event: TurnEvent) => BudgetLoss {
  const calls = new Set<string>()
  const droppedCalls = new Set<string>()
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
  const admitCallEvent = (): boolean => {
    callEvents += 1
    return callEvents <= MAX_IMPORTED_CALL_EVENTS
  }
  const admitOutput = (delta: string): boolean => {
    outputs += 1
    return outputs <= MAX_IMPORTED_OUTPUTS && admitData(delta)
  }
  const admitCall = (parts: Message["parts"], call_id: string, args: string | null): boolean => {
    if (!calls.has(call_id) && (calls.size >= MAX_IMPORTED_CALLS || parts.length >= MAX_IMPORTED_PARTS)) return false
    if (!admitData(args)) return false
    calls.add(call_id)
    return true
  }
  return ({ parts }, event) => {
    // The event of a dropped call would change nothing, but `fold` would search all parts for it.
    if ("call_id" in event && droppedCalls.has(event.call_id)) return "dropped_call"
    switch (event.type) {
      case "text_delta":
      case "thinking_delta":
        return admitText(parts, event) ? null : "text"
      case "tool_call":
        if (admitCall(parts, event.call_id, event.args)) return null
        droppedCalls.add(event.call_id)
        return "call"
      case "tool_result":
        return admitCallEvent() && admitCall(parts, event.call_id, event.result) ? null : "result"
      case "tool_output_delta":
        return admitOutput(event.delta) ? null : "output"
      case "tool_call_start":
      case "tool_approval":
      case "tool_input":
        return admitCallEvent() ? null : "start"
      case "step_start":
      case "text_done":
      case "thinking_done":
      case "summary":
      case "end":
        return null
    }
  }
}
