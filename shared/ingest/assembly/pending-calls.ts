/**
 * pending-calls.ts: calls whose final result arrives later in a file, in a callback (SPEC RE12). Pure.
 */

import * as v from "valibot"
import { parseJson } from "../../json.ts"
import { listCalls, isDeferred, type Message } from "../../protocol/message.ts"

/** A call of the message `id` whose final result has not arrived, with its preliminary result. */
export interface DeferredCall {
  readonly id: string
  readonly call_id: string
  readonly result: string | null
}

/** A call whose final result has not arrived, with the ids by which a callback may name its question. */
export interface PendingCall {
  readonly id: string
  readonly call_id: string
  readonly questionIds: readonly string[]
}

export function listPendingCalls(message: Message): PendingCall[] {
  return listCalls(message)
    .filter(isDeferred)
    .map(({ call_id, result }) => toPendingCall({ id: message.id, call_id, result }))
}

export function toPendingCall({ id, call_id, result }: DeferredCall): PendingCall {
  return { id, call_id, questionIds: listQuestionIds(parseJson(result ?? "")) }
}

/**
 * Whether a result is the preliminary one of an asynchronous call: `{mode: "async", status: "queued", responseId}`. A
 * synchronous question to a busy agent is queued too.
 */
export function isQueuedResult(result: unknown): boolean {
  return v.is(queuedSchema, result)
}

const queuedSchema = v.object({
  mode: v.picklist(["async", "sync"]),
  status: v.picklist(["queued", "async", "started"]),
  responseId: v.string(),
  exchangeId: v.optional(v.string()),
  messageId: v.optional(v.string()),
})

/** Returns the ids of the question: of its answer, of the exchange, and of the message. */
export function listQuestionIds(result: unknown): string[] {
  const parsed = v.safeParse(queuedSchema, result)
  if (!parsed.success) return []
  const { responseId, exchangeId, messageId } = parsed.output
  return [responseId, exchangeId, messageId].filter((id) => id !== undefined)
}
