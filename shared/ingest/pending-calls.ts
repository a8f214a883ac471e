/**
 * pending-calls.ts: calls whose true result comes later in a file, and the callback that brings it.
 *
 * Source: SPEC RE12; seed 001 §7. Pure.
 */

import * as v from "valibot"
import { parseJson } from "../protocol/frame.ts"
import { callsOf, isDeferred, type Message } from "../protocol/message.ts"

/** A call of the message with this id whose true result is still to come, and what it was told for now. */
export interface Waiting {
  readonly id: string
  readonly call_id: string
  readonly result: string | null
}

/** A call whose true result is still to come: where it stands, and what a callback may know it by. */
export interface AwaitedCall {
  readonly id: string
  readonly call_id: string
  readonly response: string | null
}

export function awaitedIn(message: Message): AwaitedCall[] {
  return callsOf(message)
    .filter(isDeferred)
    .map(({ call_id, result }) => awaitedOf({ id: message.id, call_id, result }))
}

export function awaitedOf({ id, call_id, result }: Waiting): AwaitedCall {
  return { id, call_id, response: responseIn(result) }
}

/** `{mode: "async", status: "queued", responseId}`: what a call is told for now. Source: seed 001 §7. */
export function isQueued(result: unknown): boolean {
  return v.is(queuedSchema, result)
}

const queuedSchema = v.object({
  mode: v.literal("async"),
  status: v.picklist(["queued", "async"]),
  responseId: v.string(),
})

function responseIn(result: string | null): string | null {
  const parsed = v.safeParse(queuedSchema, parseJson(result ?? ""))
  return parsed.success ? parsed.output.responseId : null
}
