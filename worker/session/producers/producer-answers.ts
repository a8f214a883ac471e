/**
 * producer-answers.ts: begins, continues and reads answers of external producers.
 */

import { keyToPublicId } from "../../platform/session-key.ts"
import * as v from "valibot"
import { idSchema } from "../../../shared/protocol/event.ts"
import { fail, type Result, succeed } from "../../../shared/fault.ts"
import { isEnded } from "../../../shared/protocol/message.ts"
import type { LiveSession } from "../live-session.ts"
import { finishRun, type TurnRun } from "../../turn/turn-run.ts"
import { createTraceId } from "../../telemetry/trace-id.ts"
import { createEmptyAnswer } from "../../turn/begin-turn.ts"
import { type Claims, getScope } from "../../platform/rpc/claims.ts"
import type { AnswerRef, CompleteAnswerState, ExternalState } from "../../platform/rpc/session-types.ts"

/** Returns the session if the token is a producer token for it, otherwise null. */
export function authorizeProducer(session: LiveSession | null, claims: Claims): LiveSession | null {
  if (session === null || getScope(claims) !== "external" || claims.session !== keyToPublicId(session.row.id))
    return null
  return session.isOwner(claims) ? session : null
}

/** Whether an answer is open, or messages are queued. */
export function isSessionBusy({ turns, store }: LiveSession): boolean {
  return turns.isActive() || store.countQueued() > 0
}

/**
 * Continues the open answer with this id, or begins it after the newest message of the active path.
 *
 * Errors: `turn_ended`, `turn_running`, `field_invalid` if another message has the id, `internal` if a write of the
 * answer failed. In these cases, nothing is stored.
 */
export function openExternalAnswer(session: LiveSession, id: string, turnId: string | undefined): Result<TurnRun> {
  const { store, turns, host } = session
  const known = store.findExternalAnswer(id)
  if (known !== null) {
    const run = isEnded(known.status) ? null : turns.currentRun()
    if (run === null || run.recorder.pos !== known.pos) return fail({ reason: "turn_ended" })
    store.claimAnswer(known.pos)
    // After a failed write, the answer ends as soon as its end can be written.
    return run.failure === null ? succeed(run) : fail({ reason: "internal" })
  }
  if (!v.is(idSchema, id) || store.findById(id) !== null) return fail({ reason: "field_invalid", field: "responseId" })
  if (isSessionBusy(session)) return fail({ reason: "turn_running" })
  // An answer can't join an exchange that another message began, because messages never change their positions.
  const exchangeId = v.is(idSchema, turnId) && store.findById(turnId) === null ? turnId : id
  const position = { pos: store.readNewestPos() + 1, parent: store.readTip() }
  const answer = {
    ...createEmptyAnswer(host, position, {
      id,
      exchange_id: exchangeId,
      mode: "external",
      trace: createTraceId(),
    }),
    deadline: host.now() + host.times.producerSilenceMs,
  }
  store.atomically(() => {
    store.insertMessage(answer)
    store.insertProducer(position.pos, exchangeId)
  })
  turns.startVersion([answer])
  host.resume()
  const run = turns.currentRun()
  return run === null ? fail({ reason: "internal" }) : succeed(run)
}

export function readExternalState({ store }: LiveSession, id: string): ExternalState | null {
  const known = store.findExternalAnswer(id)
  if (known === null) return null
  const { exchange_id: turnId, ackedRecord: n, status, reason } = known
  return { responseId: id, turnId, n, status, reason }
}

/**
 * Writes a complete answer. Idempotent: repeating an id has no effect (SPEC EX2).
 *
 * Errors: `message_empty`, and those of `openExternalAnswer`. In these cases, nothing is stored.
 */
export function writeCompleteAnswer(
  session: LiveSession,
  answerRef: AnswerRef,
  text: string,
): Result<CompleteAnswerState> {
  const { host } = session
  const id = answerRef.responseId ?? host.nextId()
  const known = readExternalState(session, id)
  if (known !== null && isEnded(known.status)) return succeed({ ...known, duplicate: true })
  if (known !== null) return fail({ reason: "turn_running" })
  if (text.trim() === "") return fail({ reason: "message_empty" })
  const opened = openExternalAnswer(session, id, answerRef.turnId)
  if (!opened.ok) return opened
  opened.value.recorder.feed({ type: "step_start" })
  opened.value.recorder.feed({ type: "text_delta", delta: text })
  finishRun(host, opened.value, "completed", null)
  host.resume()
  const state = readExternalState(session, id)
  return state === null ? fail({ reason: "internal" }) : succeed({ ...state, duplicate: false })
}
