/**
 * approvals.ts: the user's decision to allow or deny a tool call.
 *
 * A call that needs approval waits in the database, so no process has to stay awake for it.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import { listCalls, type ToolCall } from "../../shared/protocol/message.ts"
import { callIdToPos } from "../platform/call-id.ts"
import { isMessageSettled, type StoredMessage } from "../store/row-codec.ts"
import { listCallsAwaitingApproval } from "./next-action.ts"
import { readNewestMessage } from "./turn-recovery.ts"
import { type ActiveTurn, applyApproval, type TurnHost } from "./turn-run.ts"

/** Allows or denies one call. The first decision counts, and repeating it has no effect. Returns the seq of its write. */
export function decideApproval(turn: ActiveTurn, call_id: string, decision: "allow" | "deny"): Result<number> {
  const [stored, call] = findCall(turn.host, call_id)
  if (stored === null || call === undefined) return fail({ reason: "call_unknown" })
  const approval = decision === "allow" ? "allowed" : "denied"
  if (call.approval === approval) return succeed(stored.seq)
  if (call.approval !== "asked" || isMessageSettled(stored)) return fail({ reason: "call_decided" })
  applyDecision(turn, approval, [call_id])
  return succeed(readNewestMessage(turn.host)?.seq ?? stored.seq)
}

/** Allows every call of a tool that waits for approval. */
export function allowPendingCalls(turn: ActiveTurn, tool: string): void {
  const newest = readNewestMessage(turn.host)
  const calls = newest === null || isMessageSettled(newest) ? [] : listCalls(newest.message)
  const asked = calls.filter(({ name, approval }) => name === tool && approval === "asked")
  if (asked.length > 0)
    applyDecision(
      turn,
      "allowed",
      asked.map(({ call_id }) => call_id),
    )
}

/** Denies every call that waits for approval. */
export function denyPendingApprovals(turn: ActiveTurn): void {
  const newest = readNewestMessage(turn.host)
  if (newest !== null) applyDecision(turn, "denied", listCallsAwaitingApproval(newest.message))
}

function applyDecision(turn: ActiveTurn, approval: "allowed" | "denied", call_ids: readonly string[]): void {
  const { host } = turn
  const run = turn.currentRun()
  if (run === null) return
  turn.publishSafely(run, () => applyApproval(host, run, approval, call_ids))
  run.notifier.notify()
  host.armAlarm()
}

/**
 * A call by its id, with its message. The id contains the position where the call was first made. A retry copies calls
 * into the newest message under the same ids, so that message is searched first.
 */
function findCall(host: TurnHost, call_id: string): readonly [StoredMessage | null, ToolCall | undefined] {
  const callIn = (stored: StoredMessage | null): ToolCall | undefined =>
    stored === null ? undefined : listCalls(stored.message).find(({ call_id: id }) => id === call_id)
  const newest = readNewestMessage(host)
  const call = callIn(newest)
  if (call !== undefined) return [newest, call]
  const pos = callIdToPos(call_id)
  const stored = pos === null ? null : host.store.findMessageAt(pos)
  return [stored, callIn(stored)]
}
