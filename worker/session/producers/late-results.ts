/**
 * late-results.ts: results of tool calls that a tenant's service sends later. Loaded on first use.
 *
 * Source: SPEC TW5, TW10.
 */

import { fail, type Result, succeed } from "../../../shared/fault.ts"
import { isEnded, isSettled, listCalls } from "../../../shared/protocol/message.ts"
import type { LateToolResult } from "../../platform/rpc/session-types.ts"
import { computeDeliveryId } from "../../webhook/delivery-id.ts"
import type { LiveSession } from "../live-session.ts"

/**
 * Stores the result for its call, which is waiting or will run again after a restart. Repeating the call has no effect.
 */
export async function acceptToolResult(
  session: LiveSession | null,
  { tool, call_id, id, text }: LateToolResult,
): Promise<Result<null>> {
  if (session === null || (await computeDeliveryId(session.row, call_id)) !== id)
    return fail({ reason: "result_unexpected" })
  const answer = session.store.findNewestAnswer()
  if (answer === null || isEnded(answer.status)) return fail({ reason: "result_unexpected" })
  const message = session.store.findMessageAt(session.store.readNewestPos())?.message
  const calls = message === undefined ? [] : listCalls(message)
  const isWaiting = calls.some((call) => call.call_id === call_id && call.name === tool && !isSettled(call.status))
  if (!isWaiting) return fail({ reason: "result_unexpected" })
  session.store.toolCallbacks.put(call_id, text)
  session.advance()
  return succeed(null)
}
