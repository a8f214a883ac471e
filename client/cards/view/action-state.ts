/**
 * action-state.ts: the state of each of a card's actions, derived from the messages that clicks have sent. Pure. SPEC
 * KA7.
 */

import { toActionKey } from "../../../shared/protocol/cards/action-key.ts"
import type { WireMessage } from "../../../shared/protocol/server-frame.ts"
import type { OutboxEntry } from "../../net/outbox.ts"

/** `sent`: the call hasn't ended. `refused`: the call was refused, was denied or has failed, and can be made again. */
export type ActionState = "idle" | "sent" | "done" | "refused"

/** Returns the state of each of a card's actions, by action key. Actions that weren't clicked are absent. */
export function listActionStates(
  callId: string,
  messages: readonly WireMessage[],
  unsent: readonly OutboxEntry[],
): ReadonlyMap<string, ActionState> {
  const states = new Map<string, ActionState>()
  for (const message of messages) {
    const { action } = message
    if (action?.call_id === callId) states.set(toActionKey(action), getState(message, messages))
  }
  for (const { action, error } of unsent) {
    if (action?.call_id === callId) states.set(toActionKey(action), error === null ? "sent" : "refused")
  }
  return states
}

function getState({ id, status }: WireMessage, messages: readonly WireMessage[]): ActionState {
  if (status === "queued") return "sent"
  if (status === "cancelled") return "refused"
  const answer = messages.find(({ role, exchange_id }) => role === "assistant" && exchange_id === id)
  const call = answer?.segments.find((segment) => segment.type === "tool")
  if (call === undefined) return answer === undefined || answer.status === "running" ? "sent" : "refused"
  if (call.status === "ok") return "done"
  return call.status === "failed" || call.status === "interrupted" ? "refused" : "sent"
}
