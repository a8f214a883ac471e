/**
 * part-times.ts: the times at which the parts of a message began and ended, for exports.
 *
 * (message before, message after, event, time) → TIMES → message
 * Times are stored with the parts and never sent to a client. Parts written by an older version have none. Pure.
 */

import type { TurnEvent } from "./event.ts"
import { fold, isSettled, type Message, type Part } from "./message.ts"

/** The times of a part, in ISO 8601 and UTC with milliseconds, so that they sort as text. */
export interface PartTimes {
  /** The time of the part's first event: the first delta, or the request for the call. */
  readonly begin: string
  /** When the text ended or the call's result arrived. */
  readonly end?: string
  /** When the user was asked to approve the call, and when the user decided. */
  readonly asked?: string
  readonly decided?: string
  /** When the call was dispatched. */
  readonly started?: string
}

/**
 * Applies an event as `fold` does, and stores the event's time (`at`, in ISO 8601) with the changed parts. If `at` is
 * undefined, they get no times.
 */
export function foldAt(message: Message, event: TurnEvent, at: string | undefined): Message {
  const folded = fold(message, event)
  return at === undefined ? folded : stampTimes(message, folded, event, at)
}

/**
 * Adds the time of an event to the parts that it changed.
 *
 * Cost: constant for continued text; linear in the number of parts for a call's event and for the end.
 */
function stampTimes(before: Message, after: Message, event: TurnEvent, at: string): Message {
  if (after === before || isContinued(before, after, event)) return after
  // A call's event and the end may change any part. Any other event changes only the last parts.
  const changesAny = "call_id" in event || event.type === "end"
  let { parts } = after
  for (let i = parts.length - 1; i >= 0; i -= 1) {
    const part = parts[i]
    if (part === undefined || part === before.parts[i]) {
      if (changesAny) continue
      break
    }
    const stamped = stampPart(before.parts[i], part, event, at)
    if (stamped !== part) parts = parts.with(i, stamped)
  }
  return event.type === "end" ? { ...after, parts, endedAt: at } : { ...after, parts }
}

function isContinued(before: Message, after: Message, { type }: TurnEvent): boolean {
  return type.endsWith("_delta") && before.parts.length === after.parts.length
}

function stampPart(before: Part | undefined, after: Part, event: TurnEvent, at: string): Part {
  const times = before === undefined ? { begin: at } : before.times
  // A part written by an older version gets no times.
  if (times === undefined) return after
  if (after.type !== "tool_call") {
    const hasEnded = !after.open && (before === undefined || (before.type !== "tool_call" && before.open))
    return { ...after, times: hasEnded ? { ...times, end: at } : times }
  }
  const wasSettled = before?.type === "tool_call" && isSettled(before.call.status)
  const end = event.type === "tool_result" || (isSettled(after.call.status) && !wasSettled) ? { end: at } : {}
  return { ...after, times: { ...times, ...readCallTime(event, at), ...end } }
}

function readCallTime(event: TurnEvent, at: string): Partial<PartTimes> {
  if (event.type === "tool_call_start") return { started: at }
  if (event.type !== "tool_approval") return {}
  return event.approval === "asked" ? { asked: at } : { decided: at }
}
