/**
 * next-action.ts: decides what a turn does next from its stored message alone. Pure: no I/O, no clock.
 *
 * After a restart, an approval, a late tool result or a cancel, a turn therefore continues along the same code path.
 */

import type { TurnFault } from "../../shared/fault.ts"
import { MAX_STEPS } from "../../shared/limits.ts"
import {
  isDeferred,
  isEnded,
  isSettled,
  listCalls,
  type Message,
  type Part,
  type ToolCall,
} from "../../shared/protocol/message.ts"
import { findOpenText } from "./continuation/join-text.ts"

export type NextAction =
  /** Call the model. */
  | { readonly do: "step" }
  /** Run `calls`, and ask the user to approve `toApprove`. */
  | { readonly do: "dispatch"; readonly calls: readonly ToolCall[]; readonly toApprove: readonly ToolCall[] }
  /** Wait for a tool result or for the user. */
  | { readonly do: "wait" }
  | { readonly do: "end"; readonly status: "completed" | "failed" | "interrupted"; readonly reason: TurnFault | null }
  /** Nothing: the turn has ended. */
  | { readonly do: "rest" }

/** State that only the process running the turn has. */
export interface ProcessState {
  /** Whether this process is running the call. */
  readonly isInFlight: (call_id: string) => boolean
  /** Whether the user has to approve the call. */
  readonly needsApproval: (call: ToolCall) => boolean
}

/**
 * Returns the next action of a turn. The turn's last step must be finished, and `planRecovery` must have dealt with the
 * calls that an earlier process left running.
 */
export function decideNextAction(message: Message, { isInFlight, needsApproval }: ProcessState): NextAction {
  if (isEnded(message.status)) return { do: "rest" }
  const calls = listCalls(message)
  const toApprove = calls.filter((call) => call.status === "queued" && call.approval === null && needsApproval(call))
  // A running call that is not in flight was left by an earlier process. Of such calls, only repeatable ones are still
  // marked as running.
  const due = calls.filter(
    (call) =>
      (call.status === "queued" && !toApprove.includes(call)) ||
      (call.status === "running" && !isInFlight(call.call_id)),
  )
  if (toApprove.length + due.length > 0) return { do: "dispatch", calls: due, toApprove }
  if (calls.some((call) => !isSettled(call.status) && !isDeferred(call))) return { do: "wait" }
  // The answer continues in the middle of its last text.
  if (findOpenText(message) !== null) return { do: "step" }
  if (message.step >= MAX_STEPS) return { do: "end", status: "failed", reason: "step_limit" }
  const visibleParts = message.parts.filter((part) => part.step === message.step && !isBlankPart(part))
  // A step with tool calls is followed by another step; a step with only text is the last one.
  if (visibleParts.length === 0 || visibleParts.some((part) => part.type === "tool_call")) return { do: "step" }
  return { do: "end", status: "completed", reason: null }
}

/** Whether a part shows nothing to the user. */
export function isBlankPart(part: Part): boolean {
  return part.type !== "tool_call" && part.text.trim() === ""
}

/**
 * Returns the number of finished steps of an ended answer. A retry keeps these steps and runs the others again.
 * The last step is included only if it called tools and all of them returned.
 */
export function countFinishedSteps({ parts }: Message): number {
  const last = parts.at(-1)?.step ?? 0
  const calls = parts.flatMap((part) => (part.type === "tool_call" && part.step === last ? [part.call] : []))
  const isFinished = calls.length > 0 && calls.every((call) => call.status === "ok" || call.status === "failed")
  return isFinished ? last : last - 1
}

/**
 * Returns an ordinal for each call, which is one more than the tool's highest ordinal in this turn so far. A call that
 * is run again keeps its ordinal.
 */
export function assignOrdinals(message: Message, calls: readonly ToolCall[]): number[] {
  const counts = new Map<string, number>()
  for (const call of listCalls(message)) {
    if (call.ordinal !== null) counts.set(call.name, Math.max(counts.get(call.name) ?? 0, call.ordinal))
  }
  return calls.map((call) => {
    const ordinal = call.ordinal ?? (counts.get(call.name) ?? 0) + 1
    counts.set(call.name, Math.max(counts.get(call.name) ?? 0, ordinal))
    return ordinal
  })
}
