/** turn.ts: messages and events of a turn, for tests of the server. */

import type { TurnEvent } from "../../shared/protocol/event.ts"
import type { Resolver } from "../../shared/segment/grant.ts"
import { fold, type Message, createMessage } from "../../shared/protocol/message.ts"
import type { StoredMessage } from "../../worker/store/row-codec.ts"
import { readTimeLimits } from "../../worker/platform/time-limits.ts"

export const TIME = "2026-01-01T00:00:00.000Z"

export function answerOf(...events: TurnEvent[]): Message {
  const empty = createMessage({ id: "a", role: "assistant", exchange_id: "q", timestamp: TIME })
  return events.reduce(fold, empty)
}

export function callOf(name: string, call_id = "c1", args = "{}"): TurnEvent {
  return { type: "tool_call", call_id, name, args }
}

export function startOf(call_id = "c1", ordinal: number | null = 1): TurnEvent {
  return { type: "tool_call_start", call_id, channel: ordinal === null ? "subagent" : "user", ordinal }
}

export function resultOf(result: string, card: string | null = null, call_id = "c1"): TurnEvent {
  return { type: "tool_result", call_id, status: "ok", result, card, error: null }
}

/** Returns a stored message, by default at a fixed position. */
export function placed(message: Message, place: Partial<StoredMessage> = {}): StoredMessage {
  return { pos: 1, parent: null, seq: 1, deadline: null, message, ...place }
}

export const TIMES = readTimeLimits({})

/** The resolver of an empty session, which finds nothing. */
export const NOTHING_KNOWN: Resolver = { findAsset: () => null, hasMessage: () => false, listOrigins: () => [] }

/** The state of a process without running turns, in which no tool needs approval. */
export const AT_REST = { isInFlight: () => false, needsApproval: () => false }
