/**
 * turn-recovery.ts: what a turn needs next, read off its stored state alone.
 *
 * So a restart, an approval, a callback and a cancel are the same code path as going on (DESIGN §8).
 * Pure: no I/O, no clock. `turn.ts` does what is decided here.
 */

import type { TurnEvent } from "../../shared/protocol/event.ts"
import type { TurnFault } from "../../shared/fault.ts"
import { MAX_STEPS } from "../../shared/limits.ts"
import {
  listCalls,
  isDeferred,
  isEnded,
  isSettled,
  type Message,
  type Part,
  type ToolCall,
} from "../../shared/protocol/message.ts"

export type NextAction =
  /** Ask the model. */
  | { readonly do: "step" }
  /** Run these tools, and ask a person about those. */
  | { readonly do: "dispatch"; readonly calls: readonly ToolCall[]; readonly toApprove: readonly ToolCall[] }
  /** Nothing until a tool comes back or somebody answers. */
  | { readonly do: "wait" }
  | { readonly do: "end"; readonly status: "completed" | "failed" | "interrupted"; readonly reason: TurnFault | null }
  /** It is over. */
  | { readonly do: "rest" }

/** What the process that moves a turn knows beside its rows. */
export interface ProcessState {
  /** Whether this very process is running that call. */
  readonly isInFlight: (call_id: string) => boolean
  /** Whether a person has to allow that call. */
  readonly needsApproval: (call: ToolCall) => boolean
}

/**
 * The next act of a turn whose last step is finished (or that has none), and whose left-behind calls were told
 * by `recoveryOf`.
 *
 * Shapes  (Message, Moving) → Act.
 * Cost    the number of parts.
 */
export function decideNextAction(message: Message, { isInFlight, needsApproval }: ProcessState): NextAction {
  if (isEnded(message.status)) return { do: "rest" }
  const calls = listCalls(message)
  const toApprove = calls.filter((call) => call.status === "queued" && call.approval === null && needsApproval(call))
  // A call that runs and is not in flight was left behind by another process, and may be run again.
  const due = calls.filter(
    (call) =>
      (call.status === "queued" && !toApprove.includes(call)) ||
      (call.status === "running" && !isInFlight(call.call_id)),
  )
  if (toApprove.length + due.length > 0) return { do: "dispatch", calls: due, toApprove }
  if (calls.some((call) => !isSettled(call.status) && !isDeferred(call))) return { do: "wait" }
  if (message.step >= MAX_STEPS) return { do: "end", status: "failed", reason: "step_limit" }
  const visibleParts = message.parts.filter((part) => part.step === message.step && !isBlankPart(part))
  // A step that asked for tools is followed by another; one that only spoke was the last.
  if (visibleParts.length === 0 || visibleParts.some((part) => part.type === "tool_call")) return { do: "step" }
  return { do: "end", status: "completed", reason: null }
}

/** A part of which a reader saw nothing. */
export function isBlankPart(part: Part): boolean {
  return part.type !== "tool_call" && part.text.trim() === ""
}

/**
 * What has to be said of a turn that a process left behind, before `nextAct` goes on with it.
 * A step that was cut after it had shown something ends the turn; a tool that was running is interrupted, unless it
 * only reads.
 *
 * Shapes  (Message, isRepeatable) → raw events to feed, maybe none.
 * Source  law 8; DESIGN §8.
 */
export function planRecovery(message: Message, isRepeatable: (tool: string) => boolean): TurnEvent[] {
  const events: TurnEvent[] = []
  for (const call of listCalls(message)) {
    if (call.status !== "running" || isRepeatable(call.name)) continue
    const error = { code: "tool_interrupted", message: "The tool was interrupted by a restart." }
    events.push({ type: "tool_result", call_id: call.call_id, status: "interrupted", result: null, card: null, error })
  }
  if (isLastStepCut(message)) {
    events.push({ type: "end", status: "interrupted", reason: "process_restart", metrics: null })
  }
  return events
}

/**
 * Whether the last step was cut after it had shown something. Its calls are dispatched, or asked about, in the very write
 * that ends it, so one of which either is true tells that it was finished, whatever the model said after its calls.
 */
function isLastStepCut({ parts }: Message): boolean {
  const last = parts.findLast((part) => !isBlankPart(part))
  if (last === undefined) return false
  const calls = parts.flatMap((part) => (part.type === "tool_call" && part.step === last.step ? [part.call] : []))
  return !calls.some((call) => call.status !== "queued" || call.approval !== null)
}

/**
 * Steps of an ended answer that were finished, from 1; what stands after them is run again by a retry.
 * The last step is finished only if it asked for tools and all of them came back.
 */
export function countFinishedSteps({ parts }: Message): number {
  const last = parts.at(-1)?.step ?? 0
  const calls = parts.flatMap((part) => (part.type === "tool_call" && part.step === last ? [part.call] : []))
  const isFinished = calls.length > 0 && calls.every((call) => call.status === "ok" || call.status === "failed")
  return isFinished ? last : last - 1
}

/** Ids of the calls about which a person is asked. */
export function listCallsAwaitingApproval(message: Message): string[] {
  return listCalls(message).flatMap((call) => (call.approval === "asked" ? [call.call_id] : []))
}

/** Ordinals of the next calls, by tool name: one more than were dispatched for the reader in this turn. Seed 000 §5.7. */
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
