/** golden-messages.ts: golden transcripts as the messages of a session. */

import type { TurnEvent } from "../../shared/protocol/event.ts"
import type { Resolver } from "../../shared/segment/grant.ts"
import { createIntake } from "../../shared/ingest/intake.ts"
import {
  listCalls,
  fold,
  isDeferred,
  isEnded,
  isSettled,
  type Message,
  createMessage,
} from "../../shared/protocol/message.ts"
import { createMessageSegmenter } from "../../shared/segment/segmenter.ts"
import type { Golden } from "./golden.ts"

export const GOLDEN_TIME = "2026-01-01T00:00:00.000Z"

export function questionOf(id: string, words: string): Message {
  return createMessage({ id, role: "user", exchange_id: id, status: "completed", timestamp: GOLDEN_TIME, words })
}

/** The events of a golden transcript, completed by an end: a turn with open calls was interrupted. */
export function endedEvents(golden: Golden): readonly TurnEvent[] {
  const message = golden.events.reduce(fold, openAnswer("a", "q"))
  if (isEnded(message.status)) return golden.events
  const isCut = listCalls(message).some((call) => !isSettled(call.status) && !isDeferred(call))
  const status = isCut ? "interrupted" : "completed"
  return [...golden.events, { type: "end", status, reason: null, metrics: null }]
}

export function openAnswer(id: string, exchange_id: string): Message {
  return createMessage({ id, role: "assistant", exchange_id, timestamp: GOLDEN_TIME })
}

/** A message with all grants of its directives, as if it had been parsed in one go. */
export function grantedOf(message: Message, resolver: Resolver): Message {
  const transcriber = createMessageSegmenter()
  transcriber.advance(message, undefined, resolver)
  return transcriber.applyGrants(message)
}

export function answerOfGolden(golden: Golden, id: string, exchange: string): Message {
  const intake = createIntake()
  const message = endedEvents(golden)
    .flatMap((event) => intake.cleanEvent(event))
    .reduce(fold, openAnswer(id, exchange))
  return grantedOf(message, golden.resolver)
}
