/**
 * pending-calls.ts: calls whose final results arrive later in a file, in callbacks (SPEC RE12). Pure.
 */

import * as v from "valibot"
import { parseJson } from "../../json.ts"
import { listCalls, isDeferred, type Message } from "../../protocol/message.ts"

/** A call in the message `id` whose final result has not arrived, with its preliminary result. */
export interface DeferredCall {
  readonly id: string
  readonly call_id: string
  readonly result: string | null
}

/** A call whose final result has not arrived, with the ids by which a callback may refer to its question. */
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
 * Returns whether a result is the preliminary result of an asynchronous call: `{mode: "async", status: "queued",
 * responseId}`. A synchronous question to a busy agent is also queued.
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

/** Returns the ids by which a callback may refer to the question: those of its answer, its exchange and its message. */
export function listQuestionIds(result: unknown): string[] {
  const parsed = v.safeParse(queuedSchema, result)
  if (!parsed.success) return []
  const { responseId, exchangeId, messageId } = parsed.output
  return [responseId, exchangeId, messageId].filter((id) => id !== undefined)
}
