/**
 * producer-answers.ts: an answer from outside: begun under the tip of the session, gone on with by its id, or told whole.
 */

import * as v from "valibot"
import { idSchema } from "../../shared/protocol/event.ts"
import { fail, type Result, succeed } from "../../shared/fault.ts"
import { isEnded, type MessageStatus } from "../../shared/protocol/message.ts"
import { type Claims, scopeOf } from "../auth/verify-token.ts"
import { isOwner, type Room } from "./live-session.ts"
import { finish, type Run } from "../turn/turn-run.ts"
import { emptyAnswer } from "../turn/begin-turn.ts"

/** How an answer stands: what its producer needs to go on. */
export interface ExternalState {
  readonly responseId: string
  readonly turnId: string
  /** The newest of its numbered records that was taken; 0: none. */
  readonly n: number
  readonly status: MessageStatus
  readonly reason: string | null
}

export type ToldWhole = ExternalState & { readonly duplicate: boolean }

/** The room that a token for a producer outside lets into; null: it does not. */
export function outsideRoomOf(room: Room | null, claims: Claims): Room | null {
  const isLetIn =
    room !== null && scopeOf(claims) === "external" && claims.session === room.session.id && isOwner(room, claims)
  return isLetIn ? room : null
}

/** Which answer a request is about, where its records do not say. */
export interface Where {
  readonly responseId?: string | undefined
  readonly turnId?: string | undefined
}

/** Whether another answer is under way, or waits to be. */
export function isBusy({ turns, store }: Room): boolean {
  return turns.isActive() || store.countQueued() > 0
}

/**
 * Goes on with the answer of this id where it is open, or begins it.
 *
 * Errors  `turn_ended`, `turn_running`, `field_invalid` where the id is another message's, `internal` where what it
 *         said last could not be written; nothing is stored then.
 */
export function openAnswer(room: Room, id: string, turnId: string | undefined): Result<Run> {
  const { store, turns, host } = room
  const known = store.fromOutside(id)
  if (known !== null) {
    const run = isEnded(known.status) ? null : turns.current()
    if (run === null || run.recorder.pos !== known.pos) return fail({ reason: "turn_ended" })
    // A write of it failed: it ends as soon as it can be written that it does.
    return run.failure === null ? succeed(run) : fail({ reason: "internal" })
  }
  if (!v.is(idSchema, id) || store.find(id) !== null) return fail({ reason: "field_invalid", field: "responseId" })
  if (isBusy(room)) return fail({ reason: "turn_running" })
  // An exchange that is somebody else's is not gone on with: its messages stand where they stand.
  const exchange = v.is(idSchema, turnId) && store.find(turnId) === null ? turnId : id
  const place = { pos: store.newestPos() + 1, parent: store.tip() }
  const answer = {
    ...emptyAnswer(host, place, { id, exchange_id: exchange, mode: "external" }),
    deadline: host.now() + host.times.producerSilenceMs,
  }
  store.atomically(() => {
    store.insertMessage(answer)
    store.beginTold(place.pos, exchange)
  })
  turns.begin([answer])
  host.goOn()
  const run = turns.current()
  return run === null ? fail({ reason: "internal" }) : succeed(run)
}

export function stateOf({ store }: Room, id: string): ExternalState | null {
  const known = store.fromOutside(id)
  if (known === null) return null
  const { exchange_id: turnId, told: n, status, reason } = known
  return { responseId: id, turnId, n, status, reason }
}

/**
 * An answer that is told whole. The same id again has no second effect.
 *
 * Errors  `message_empty`, `turn_running`, `field_invalid` where the id is another message's; nothing is stored then.
 * Source  SPEC EX2; seed 001 §3.5.
 */
export function sayWhole(room: Room, where: Where, text: string): Result<ToldWhole> {
  const { host } = room
  const id = where.responseId ?? host.nextId()
  const known = stateOf(room, id)
  if (known !== null && isEnded(known.status)) return succeed({ ...known, duplicate: true })
  if (known !== null) return fail({ reason: "turn_running" })
  if (text.trim() === "") return fail({ reason: "message_empty" })
  const opened = openAnswer(room, id, where.turnId)
  if (!opened.ok) return opened
  opened.value.recorder.feed({ type: "step_start" })
  opened.value.recorder.feed({ type: "text_delta", delta: text })
  finish(host, opened.value, "completed", null)
  host.goOn()
  const state = stateOf(room, id)
  return state === null ? fail({ reason: "internal" }) : succeed({ ...state, duplicate: false })
}
