/**
 * pending-calls.ts: calls whose final result arrives later in a file, by a callback (SPEC RE12). Pure.
 */

import * as v from "valibot"
import { parseJson } from "../json.ts"
import { listCalls, isDeferred, type Message } from "../protocol/message.ts"

/** A call of the message `id` whose final result has not arrived, with its preliminary result. */
export interface DeferredCall {
  readonly id: string
  readonly call_id: string
  readonly result: string | null
}

/** A call whose final result has not arrived, with the ids by which a callback may name it. */
export interface PendingCall {
  readonly id: string
  readonly call_id: string
  readonly responseId: string | null
}

export function listPendingCalls(message: Message): PendingCall[] {
  return listCalls(message)
    .filter(isDeferred)
    .map(({ call_id, result }) => toPendingCall({ id: message.id, call_id, result }))
}

export function toPendingCall({ id, call_id, result }: DeferredCall): PendingCall {
  return { id, call_id, responseId: readResponseId(result) }
}

/** Whether a result is the preliminary one of an asynchronous call: `{mode: "async", status: "queued", responseId}`. */
export function isQueuedResult(result: unknown): boolean {
  return v.is(queuedSchema, result)
}

const queuedSchema = v.object({
  mode: v.literal("async"),
  status: v.picklist(["queued", "async"]),
  responseId: v.string(),
})

function readResponseId(result: string | null): string | null {
  const parsed = v.safeParse(queuedSchema, parseJson(result ?? ""))
  return parsed.success ? parsed.output.responseId : null
}
