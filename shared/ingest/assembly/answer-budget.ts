/**
 * answer-budget.ts: limits the size of an answer from another producer.
 *
 * events → BUDGET → intake
 * A file may contain an answer of any size, but a message is folded, stored and read as one unit. Pure.
 */

import type { TurnEvent } from "../../protocol/event.ts"
import { MAX_ANSWER_CHARS, MAX_EXTERNAL_DATA_CHARS, MAX_IMPORTED_CALLS, MAX_IMPORTED_PARTS } from "../../limits.ts"
import type { Message } from "../../protocol/message.ts"
import type { LostKind } from "../history/kind-counts.ts"

/**
 * Maximum number of an imported answer's call events (starts, approvals and results), and of its pieces of tool output.
 * These are limited because folding searches the calls for each of them. The rest are dropped. SPEC RE36.
 */
export const MAX_IMPORTED_CALL_EVENTS = 6 * MAX_IMPORTED_CALLS
export const MAX_IMPORTED_OUTPUTS = 10_000

/**
 * Maximum length of an imported answer's text and thinking, in UTF-16 code units: a model's longest answer with each
 * character escaped (`&lt;`). The rest is dropped. SPEC RE36.
 */
export const MAX_IMPORTED_TEXT_CHARS = 4 * MAX_ANSWER_CHARS

type DeltaEvent = Extract<TurnEvent, { type: "text_delta" | "thinking_delta" }>

/**
 * What is lost if an event is dropped. Null: the event is kept. `dropped_call`: the event belongs to a dropped call,
 * which was already counted as one loss.
 */
export type BudgetLoss = LostKind | "dropped_call" | null

/**
 * Creates a function that receives one answer's events in order. For each event, it returns what is lost if the event
 * exceeds the budget.
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
    // An event of a dropped call would change nothing, but `fold` would search all parts for that call.
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
