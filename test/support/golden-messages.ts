/** golden-messages.ts: turns golden files into messages. */

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

export function createQuestion(id: string, words: string): Message {
  return createMessage({ id, role: "user", exchange_id: id, status: "completed", timestamp: GOLDEN_TIME, words })
}

/**
 * Returns a golden file's events, with an end event. If the file has none, one is added: a turn with open calls ends as
 * interrupted, any other as completed.
 */
export function addEndEvent(golden: Golden): readonly TurnEvent[] {
  const message = golden.events.reduce(fold, createAnswer("a", "q"))
  if (isEnded(message.status)) return golden.events
  const isCut = listCalls(message).some((call) => !isSettled(call.status) && !isDeferred(call))
  const status = isCut ? "interrupted" : "completed"
  return [...golden.events, { type: "end", status, reason: null, metrics: null }]
}

export function createAnswer(id: string, exchange_id: string): Message {
  return createMessage({ id, role: "assistant", exchange_id, timestamp: GOLDEN_TIME })
}

/** Adds the grants that a message would have if its text had arrived all at once. */
export function addGrants(message: Message, resolver: Resolver): Message {
  const segmenter = createMessageSegmenter()
  segmenter.advance(message, undefined, resolver)
  return segmenter.applyGrants(message)
}

export function foldGolden(golden: Golden, id: string, exchange: string): Message {
  const intake = createIntake()
  const message = addEndEvent(golden)
    .flatMap((event) => intake.cleanEvent(event))
    .reduce(fold, createAnswer(id, exchange))
  return addGrants(message, golden.resolver)
}
