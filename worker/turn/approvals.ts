/**
 * approvals.ts: the user's decisions to allow or deny tool calls, and the user's answers to what calls ask.
 *
 * A call that waits for the user waits in the database, so no process has to stay awake for it.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import type { TurnEvent } from "../../shared/protocol/event.ts"
import { isAsking, listCalls, type Message, type ToolCall } from "../../shared/protocol/message.ts"
import { callIdToPos } from "../platform/call-id.ts"
import { isMessageSettled, type StoredMessage } from "../store/row-codec.ts"
import { readNewestMessage } from "./turn-recovery.ts"
import { type ActiveTurn, applyEvents, type TurnHost } from "./turn-run.ts"

/**
 * Allows or denies one call. Only the first decision counts; repeating it has no effect. Returns the seq of its write.
 */
export function decideApproval(turn: ActiveTurn, call_id: string, decision: "allow" | "deny"): Result<number> {
  const [stored, call] = findCall(turn.host, call_id)
  if (stored === null || call === undefined) return fail({ reason: "call_unknown" })
  const approval = decision === "allow" ? "allowed" : "denied"
  if (call.approval === approval) return succeed(stored.seq)
  if (call.approval !== "asked" || isMessageSettled(stored)) return fail({ reason: "call_decided" })
  applyDecision(turn, () => [{ type: "tool_approval", call_id, approval }])
  return succeed(readNewestMessage(turn.host)?.seq ?? stored.seq)
}

/** Allows all of a tool's calls that are waiting for approval. */
export function allowPendingCalls(turn: ActiveTurn, tool: string): void {
  const newest = readNewestMessage(turn.host)
  const calls = newest === null || isMessageSettled(newest) ? [] : listCalls(newest.message)
  const waiting = calls.filter(({ name, approval }) => name === tool && approval === "asked")
  if (waiting.length > 0)
    applyDecision(turn, () => waiting.map(({ call_id }) => ({ type: "tool_approval", call_id, approval: "allowed" })))
}

/**
 * Ends the wait of all calls that are waiting for the user, because the user did something else or the time limit was
 * reached.
 */
export function dismissWaitingCalls(turn: ActiveTurn): void {
  applyDecision(turn, (message) => dismissWaiting(turn.host, message))
}

/**
 * Returns the events for all calls that are waiting for the user. A call that is waiting for approval is denied. A call
 * that has asked a question is run again, with `cancel` as the answer.
 */
export function dismissWaiting({ store }: TurnHost, message: Message): TurnEvent[] {
  return listCalls(message).flatMap((call): TurnEvent[] => {
    const { call_id } = call
    if (call.approval === "asked") return [{ type: "tool_approval", call_id, approval: "denied" }]
    if (!isAsking(call)) return []
    store.callInputs.cancel(call_id)
    return [{ type: "tool_input", call_id, input: null }]
  })
}

/**
 * Writes the user's decisions or answers. `decide` gets the message as clients see it, and returns the events. The
 * caller then advances the turn.
 */
export function applyDecision(turn: ActiveTurn, decide: (message: Message) => readonly TurnEvent[]): void {
  const { host } = turn
  const run = turn.currentRun()
  if (run === null) return
  turn.publishSafely(run, () => applyEvents(host, run, decide(run.recorder.currentMessage())))
  run.notifier.notify()
  host.armAlarm()
}

/**
 * Returns a call by its id, with its message. The id contains the position where the call was first made. A retry
 * copies calls into the newest message under the same ids, so that message is searched first.
 */
export function findCall(host: TurnHost, call_id: string): readonly [StoredMessage | null, ToolCall | undefined] {
  const callIn = (stored: StoredMessage | null): ToolCall | undefined =>
    stored === null ? undefined : listCalls(stored.message).find(({ call_id: id }) => id === call_id)
  const newest = readNewestMessage(host)
  const call = callIn(newest)
  if (call !== undefined) return [newest, call]
  const pos = callIdToPos(call_id)
  const stored = pos === null ? null : host.store.findMessageAt(pos)
  return [stored, callIn(stored)]
}
