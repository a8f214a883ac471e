/**
 * pending-calls.ts: calls whose true result comes later in a file, and the callback that brings it.
 *
 * Source: SPEC RE12; seed 001 §7. Pure.
 */

import * as v from "valibot"
import { parseJson } from "../json.ts"
import { listCalls, isDeferred, type Message } from "../protocol/message.ts"

/** A call of the message with this id whose true result is still to come, and what it was told for now. */
export interface DeferredCall {
  readonly id: string
  readonly call_id: string
  readonly result: string | null
}

/** A call whose true result is still to come: where it stands, and what a callback may know it by. */
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

/** `{mode: "async", status: "queued", responseId}`: what a call is told for now. Source: seed 001 §7. */
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
