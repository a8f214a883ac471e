/** answer-input.ts: stores the user's answer to a question that a running call asked (SPEC MP32). Loaded on demand. */

import { fail, type Result, succeed } from "../../../shared/fault.ts"
import { toCanonicalJson } from "../../../shared/json.ts"
import type { InputAnswer } from "../../../shared/protocol/input/call-input.ts"
import { listInvalidFields } from "../../../shared/protocol/input/check-content.ts"
import { isAsking } from "../../../shared/protocol/message.ts"
import type { InputAnswerRequest } from "../../platform/rpc/session-types.ts"
import { findOpenForm, type StoredInput } from "../../store/callbacks/call-inputs.ts"
import { isMessageSettled } from "../../store/row-codec.ts"
import { applyDecision, findCall } from "../../turn/approvals.ts"
import type { LiveSession } from "../live-session.ts"

/**
 * Stores the answer to one question. Only the first answer counts; repeating it has no effect. When all questions of
 * the call are answered, the call runs again. Errors: `call_unknown`; `call_decided`; `field_invalid` with the name of
 * the field.
 */
export function answerInput(
  { turns, store, advance }: LiveSession,
  callId: string,
  { input, ...answer }: InputAnswerRequest,
): Result<null> {
  const [message, call] = findCall(turns.host, callId)
  if (message === null || call === undefined) return fail({ reason: "call_unknown" })
  const stored = store.callInputs.find(callId)
  const form = findOpenForm(stored)
  if (stored === null || form?.id !== input || !isAsking(call) || isMessageSettled(message)) {
    return isRepeated(stored, input, answer) ? succeed(null) : fail({ reason: "call_decided" })
  }
  const [invalid] = answer.action === "accept" ? listInvalidFields(form.fields, answer.content) : []
  if (invalid !== undefined) return fail({ reason: "field_invalid", field: invalid })
  const requests = stored.requests.map((request) => (request.form?.id === input ? { ...request, answer } : request))
  const next = { ...stored, requests }
  store.atomically(() =>
    applyDecision(turns, () => {
      store.callInputs.put(callId, next)
      return [{ type: "tool_input", call_id: callId, input: findOpenForm(next) }]
    }),
  )
  advance()
  return succeed(null)
}

function isRepeated(stored: StoredInput | null, input: string, answer: InputAnswer): boolean {
  const storedAnswer = stored?.requests.find(({ form }) => form?.id === input)?.answer
  return storedAnswer != null && toCanonicalJson(storedAnswer) === toCanonicalJson(answer)
}
