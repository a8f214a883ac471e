/**
 * intake.ts: cleans the text of raw events.
 *
 * raw events → INTAKE (clean) → clean events → fold
 * All text from every producer passes through this module. The open part has a cleaner, which is flushed when the part
 * ends. The cleaner's state can be saved, so that a restarted object can continue in the middle of a tag. Pure.
 */

import { type Cleaner, type CleanState, clean, createCleaner } from "../sanitize/clean.ts"
import type { TurnEvent } from "../protocol/event.ts"

export interface Intake {
  /** Returns the clean events for one raw event. */
  cleanEvent(event: TurnEvent): TurnEvent[]
  /** Returns the state of the open part's cleaner. */
  saveCleaner(): CleanState
}

type TextKind = "text" | "thinking"

/**
 * Creates an intake that continues a stored message.
 *
 * Shapes: (kind of the message's open part or null, saved cleaner, ids of the message's calls) → Intake.
 * Cost: one pass over the text.
 */
export function createIntake(
  openKind: TextKind | null = null,
  saved?: CleanState,
  calls: Iterable<string> = [],
): Intake {
  const knownCalls = new Set(calls)
  const registerCall = (call_id: string): boolean => {
    if (knownCalls.has(call_id)) return false
    knownCalls.add(call_id)
    return true
  }
  let kind = openKind
  let cleaner: Cleaner = createCleaner(saved)
  const flushCleaner = (): TurnEvent[] => {
    if (kind === null) return []
    const rest = cleaner.end()
    const type = kind === "text" ? "text_delta" : "thinking_delta"
    kind = null
    cleaner = createCleaner()
    return rest === "" ? [] : [{ type, delta: rest }]
  }
  return {
    saveCleaner: () => cleaner.save(),
    cleanEvent(event) {
      switch (event.type) {
        case "text_delta":
        case "thinking_delta": {
          const nextKind: TextKind = event.type === "text_delta" ? "text" : "thinking"
          const flushed = kind === nextKind ? [] : flushCleaner()
          kind = nextKind
          return [...flushed, { type: event.type, delta: cleaner.push(event.delta) }]
        }
        case "step_start":
        case "text_done":
        case "thinking_done":
        case "end":
          return [...flushCleaner(), event]
        case "tool_call":
          // A second call with the same id changes nothing, so it must not end the open part.
          return registerCall(event.call_id) ? [...flushCleaner(), event] : [event]
        case "summary":
          return [{ ...event, text: clean(event.text) }]
        case "tool_approval":
        case "tool_input":
        case "tool_call_start":
        case "tool_output_delta":
          return [event]
        case "tool_result":
          // A result without a call is shown as a separate call, so it ends the open part.
          return registerCall(event.call_id) ? [...flushCleaner(), event] : [event]
      }
    },
  }
}
