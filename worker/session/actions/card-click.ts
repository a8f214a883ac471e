/**
 * card-click.ts: turns a click on a card into a message whose call comes from the card's template and the stored
 * result.
 *
 * click → template, stored result → CARD CLICK → message with its call → accept-message.ts
 * Source: SPEC KA2, KA3, KA9, KA10.
 */

import { buildActionCall } from "../../../shared/card/actions/build-action-call.ts"
import type { CardView } from "../../../shared/card/view/card-template.ts"
import { type ActionFlaw, fail, type Result, succeed } from "../../../shared/fault.ts"
import { type Json, parseJson } from "../../../shared/json.ts"
import { toActionRef } from "../../../shared/protocol/cards/action-key.ts"
import type { ActionClick, ActionRef, CardAction } from "../../../shared/protocol/cards/card-action.ts"
import { parseViewReference } from "../../../shared/protocol/cards/card-view-url.ts"
import { parseStoredCard, splitResult } from "../../../shared/protocol/card-cue.ts"
import { isEnded, listCalls, type ToolCall } from "../../../shared/protocol/message.ts"
import { callIdToPos } from "../../platform/call-id.ts"
import type { SendRequest } from "../../platform/rpc/session-types.ts"
import type { SessionStore } from "../../store/session-store.ts"
import type { AcceptRequest } from "../../turn/accept-message.ts"
import type { LiveSession } from "../live-session.ts"

function refuse(because: ActionFlaw): Result<never> {
  return fail({ reason: "action_refused", because })
}

/**
 * Loads the card's template. The returned function creates the message. That function is synchronous, so that the
 * second of two simultaneous clicks finds the first. Errors: `action_refused`.
 */
export async function loadClick(
  session: LiveSession,
  request: SendRequest & { readonly action: ActionClick },
): Promise<() => Result<AcceptRequest>> {
  const { store, host } = session
  const { action } = request
  const call = findCall(store, action.call_id)
  const reference = parseViewReference(call?.card == null ? "" : (parseStoredCard(call.card).view ?? ""))
  if (call === undefined || reference === null) return () => acceptKnown(store, request) ?? refuse("unknown")
  const text = await host.loadCardView(reference)
  return () => {
    const known = acceptKnown(store, request)
    if (known !== null) return known
    // The server checked the template before storing it.
    const view = text === null ? null : ((parseJson(text) ?? null) as unknown as CardView | null)
    const result = parseJson(splitResult(call.result ?? "").head)
    if (view === null || result === undefined) return refuse("unknown")
    return makeMessage(session, request, view, result)
  }
}

/** Finds a click that was already accepted. Repeating a click has no effect. */
function acceptKnown(store: SessionStore, { action: _, ...request }: SendRequest): Result<AcceptRequest> | null {
  return store.findById(request.id) === null ? null : succeed(request)
}

function makeMessage(
  { store, host }: LiveSession,
  { id, action }: SendRequest & { readonly action: ActionClick },
  view: CardView,
  result: Json,
): Result<AcceptRequest> {
  const built = buildActionCall(view, result, action)
  if (!built.ok) return refuse(built.problem.because)
  const { tool, args, words } = built.call
  if (host.currentAgent().tools.every(({ name }) => name !== tool)) return refuse("tool")
  const isRepeatable = view.actions?.[action.name]?.repeatable === true
  if (!isRepeatable && isDone(store, action)) return refuse("done")
  const made: CardAction = { ...toActionRef(action), tool, args }
  return succeed({ id, content: words, made })
}

/** Whether the action's call has succeeded, or may still do so. */
function isDone(store: SessionStore, action: ActionRef): boolean {
  const id = store.cardActions.findMessage(action)
  const message = id === null ? null : store.findById(id)
  if (message === null || message.isWithdrawn) return false
  if (message.pos === null) return true
  // The answer was stored together with its question.
  const answer = store.findMessageAt(message.pos + 1)?.message
  const call = answer === undefined ? undefined : listCalls(answer)[0]
  if (answer === undefined || call === undefined) return answer !== undefined && !isEnded(answer.status)
  return call.status !== "failed" && call.status !== "interrupted"
}

/** Finds a call. A call copied into a newer version of its answer has the same result. */
function findCall(store: SessionStore, callId: string): ToolCall | undefined {
  const pos = callIdToPos(callId)
  const stored = pos === null ? null : store.findMessageAt(pos)
  return stored === null ? undefined : listCalls(stored.message).find(({ call_id }) => call_id === callId)
}
