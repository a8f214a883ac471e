/**
 * producer-ingress.ts: answers that a producer outside tells, record by record, into a session.
 *
 * body → feed → EXTERNAL → recorder (clean, fold, store) → sockets
 * An answer from outside stands under the tip of the session and is written and shown like a model's. While it is open
 * the session is busy. Records may be numbered: what was taken is written with what it brought, so that a producer that
 * comes back goes on where it was, and nothing counts twice.
 */

import { idOf } from "../../shared/ingest/assembler.ts"
import { type Fault, fail, faultToWire, type Result, succeed } from "../../shared/fault.ts"
import { faultOfRecord, hearRecord } from "../../shared/ingest/external-record.ts"
import { parseJson } from "../../shared/protocol/frame.ts"
import { MAX_BAD_LINES, MAX_EXTERNAL_BODY_BYTES, MAX_RECORD_BYTES } from "../../shared/limits.ts"
import { parseRecord, type StreamRecord } from "../../shared/protocol/record.ts"
import type { Env } from "../env.ts"
import { directoryOf } from "../auth/user-directory.ts"
import type { Claims } from "../auth/verify-token.ts"
import { isRevoked, NOTHING_REVOKED, type Revoked } from "../auth/revocation.ts"
import { Erased } from "../store/storage-gate.ts"
import { createFeed, type Feed, type FeedLine } from "./record-lines.ts"
import {
  type ExternalState,
  isBusy,
  openAnswer,
  outsideRoomOf,
  sayWhole,
  stateOf,
  type ToldWhole,
  type Where,
} from "./producer-answers.ts"
import { endSilent, noteLife, type Producer } from "../turn/external-run.ts"
import { log } from "../platform/log.ts"
import { type Room, sparing } from "./live-session.ts"
import { failLater, isOver, publish, type Run } from "../turn/turn-run.ts"
import { tell } from "./apply-record.ts"

export interface RefusedLine {
  readonly line: number
  readonly code: string
  readonly text: string
}

/** What came of one request. */
export interface Taken {
  /** Why it was not read to its end; null where it was. */
  readonly fault: Fault | null
  /** The newest answer that it spoke of; null where it began none. */
  readonly state: ExternalState | null
  readonly applied: number
  /** Records that were here before. */
  readonly repeated: number
  /** The first of the lines that were refused; `skipped` counts them all. */
  readonly bad: readonly RefusedLine[]
  readonly skipped: number
}

/** One request that is being read. */
interface Visit {
  readonly claims: Claims
  readonly where: Where
  feed: Feed
  /** The answer that its records go to. */
  run: Run | null
  /** Id of the newest answer that it spoke of. */
  id: string | null
  /** Its end ends the request. */
  readonly onAbort: () => void
  /** Where `onAbort` listens. */
  heardOf: AbortSignal | null
  /** Lines since the last numbered record whose number nobody can read. */
  unreadable: number
  applied: number
  repeated: number
  readonly bad: RefusedLine[]
  skipped: number
  fault: Fault | null
}

export interface Door {
  /** Reads one request to its end, or until there is a reason not to. Never throws for what comes from outside. */
  take(room: Room | null, claims: Claims, where: Where, body: ReadableStream<Uint8Array> | null): Promise<Result<Taken>>
  /** Takes an answer that is told whole. */
  tell(room: Room | null, claims: Claims, where: Where, text: string): Result<ToldWhole>
  /** How an answer stands. */
  ask(room: Room | null, claims: Claims, id: string): Result<ExternalState>
  /** Whoever sends with a revoked token is stopped. */
  revoke(revoked: Revoked): void
}

/**
 * The door of one object: it knows who is sending now, and lets nobody in who is not for this room (law 12).
 *
 * Errors  `session_unknown`, `token_revoked`; what is wrong with the records is told in `Taken`.
 * Source  SPEC EX1–EX11.
 */
export function createDoor(env: Env): Door {
  const visits = new Set<Visit>()
  let revoked = NOTHING_REVOKED
  const touch = ({ session }: Room): void => {
    const touched = directoryOf(env, session).touch(session.id, Date.now())
    touched.catch(() => log("touch_failed", { id: session.id }))
  }
  return {
    async take(room, claims, where, body) {
      const entered = outsideRoomOf(room, claims)
      if (entered === null) return fail({ reason: "session_unknown" })
      // As with a socket: from here on the directory tells this object of revocations.
      const admitted = await directoryOf(env, claims).admit(claims, entered.session.id)
      if (!admitted.ok) return admitted
      // It may have been revoked after it was asked, while this request was none that could be stopped.
      if (isRevoked(claims, revoked)) return fail({ reason: "token_revoked" })
      touch(entered)
      const visit = beginVisit(entered, claims, where, body)
      visits.add(visit)
      try {
        await read(entered, visit, visits)
        return succeed(takenOf(entered, visit))
      } catch (error) {
        if (error instanceof Erased) return fail({ reason: "session_unknown" })
        throw error
      } finally {
        leave(visit)
        visit.feed.stop()
        visits.delete(visit)
      }
    },
    tell(room, claims, where, text) {
      const entered = outsideRoomOf(room, claims)
      if (entered === null) return fail({ reason: "session_unknown" })
      touch(entered)
      return sparing(entered, () => sayWhole(entered, where, text))
    },
    ask(room, claims, id) {
      const entered = outsideRoomOf(room, claims)
      if (entered === null) return fail({ reason: "session_unknown" })
      const state = stateOf(entered, id)
      return state === null ? fail({ reason: "turn_unknown" }) : succeed(state)
    },
    revoke(newest) {
      if (newest.n > revoked.n) revoked = newest
      for (const visit of visits) if (isRevoked(visit.claims, revoked)) stop(visit, { reason: "token_revoked" })
    },
  }
}

function beginVisit(room: Room, claims: Claims, where: Where, body: ReadableStream<Uint8Array> | null): Visit {
  const { host } = room
  let left = MAX_EXTERNAL_BODY_BYTES
  const onLife = (bytes: number): void => {
    left -= bytes
    if (left < 0) return stop(visit, { reason: "body_too_large", max: MAX_EXTERNAL_BODY_BYTES })
    if (claims.expires * 1000 <= host.now()) return stop(visit, { reason: "token_expired" })
    const { run } = visit
    if (run?.producer != null) noteLife(host, run, run.producer)
  }
  const visit: Visit = {
    ...{ claims, where, run: null, id: null, heardOf: null, unreadable: 0, applied: 0, repeated: 0 },
    ...{ bad: [], skipped: 0, fault: null },
    onAbort() {
      const { run } = visit
      if (run !== null) stop(visit, { reason: run.failure === null ? "turn_ended" : "internal" })
    },
    feed: createFeed(body, host.times.producerSilenceMs, onLife),
  }
  return visit
}

function stop(visit: Visit, fault: Fault): void {
  visit.fault ??= fault
  visit.feed.stop()
}

async function read(room: Room, visit: Visit, visits: ReadonlySet<Visit>): Promise<void> {
  const { responseId } = visit.where
  if (responseId !== undefined) orFail(room, visit, () => lookAhead(room, visit, visits, responseId))
  if (visit.fault !== null) return
  try {
    for await (const line of visit.feed.lines()) {
      if (visit.fault === null) orFail(room, visit, () => takeLine(room, visit, visits, line))
      if (line.isEndless) stop(visit, { reason: "body_too_large", max: MAX_RECORD_BYTES })
      if (visit.fault !== null) break
    }
  } catch {
    // The body broke off: what came before stays, and the answer stays open for its producer to come back.
  }
  orFail(room, visit, () => settle(room, visit))
}

/** What is known of an answer is told at once; a new one is begun by its first record. */
function lookAhead(room: Room, visit: Visit, visits: ReadonlySet<Visit>, id: string): void {
  if (room.store.fromOutside(id) !== null) enter(room, visit, visits, id, undefined)
  else if (isBusy(room)) stop(visit, { reason: "turn_running" })
}

/** A write that failed ends the answer from its rows, as it does with ours. */
function orFail<T>(room: Room, visit: Visit, work: () => T): T | null {
  try {
    return work()
  } catch (error) {
    if (error instanceof Erased) throw error
    room.host.log("external_error", { message: error instanceof Error ? error.message : "unknown" })
    room.host.resetSeq()
    stop(visit, { reason: "internal" })
    if (visit.run !== null) failLater(visit.run, error)
    room.host.goOn()
    return null
  }
}

/** What was taken is shown and written down before it is told. Of an answer that failed nothing more is written. */
function settle({ host }: Room, { run, feed }: Visit): void {
  if (run === null || run.producer === null || isOver(run) || run.failure !== null) return
  if (feed.ended() === "silence") return endSilent(host, run)
  publish(host, run)
  // A body that broke off, or that was not read to its end, gave its last sign of life before.
  if (feed.ended() === "body") noteLife(host, run, run.producer, true)
}

/** Goes to the answer of this id, or begins it. False: there is a reason not to, and the request is over. */
function enter(room: Room, visit: Visit, visits: ReadonlySet<Visit>, id: string, turnId: string | undefined): boolean {
  const opened = openAnswer(room, id, turnId)
  visit.id = id
  if (!opened.ok) {
    stop(visit, opened.fault)
    return false
  }
  const run = opened.value
  // Whoever comes back is the one that lives.
  for (const other of visits) {
    if (other === visit || other.run !== run) continue
    leave(other)
    stop(other, { reason: "turn_running" })
  }
  leave(visit)
  visit.run = run
  run.abort.signal.addEventListener("abort", visit.onAbort)
  visit.heardOf = run.abort.signal
  if (run.producer !== null) noteLife(room.host, run, run.producer)
  return true
}

/** It has nothing more to do with its answer. */
function leave(visit: Visit): void {
  visit.heardOf?.removeEventListener("abort", visit.onAbort)
  visit.heardOf = null
  visit.run = null
}

function refuse(visit: Visit, line: number, fault: Fault): void {
  visit.skipped += 1
  if (visit.bad.length >= MAX_BAD_LINES) return
  const { code, text } = faultToWire(fault)
  visit.bad.push({ line, code, text })
}

function takeLine(room: Room, visit: Visit, visits: ReadonlySet<Visit>, { n: line, text }: FeedLine): void {
  const value = text.ok ? parseJson(text.value) : undefined
  const record = text.ok ? parseRecord(value) : text
  if (!record.ok) return passBad(visit, line, value, record.fault)
  const id = idOf(record.value.responseId) ?? visit.where.responseId ?? visit.id ?? room.host.nextId()
  if (visit.run === null && visit.id === id) return refuse(visit, line, { reason: "turn_ended" })
  if (visit.run !== null && visit.id !== id) return refuse(visit, line, { reason: "turn_running" })
  // What nobody outside may say begins no answer either.
  if (visit.run === null) {
    const fault = faultOfRecord(record.value)
    if (fault !== null) return passBad(visit, line, value, fault)
    if (!enter(room, visit, visits, id, idOf(record.value.turnId) ?? visit.where.turnId)) return
  }
  const { run } = visit
  if (run === null || run.producer === null) return
  const fault = takeRecord(room, visit, run, run.producer, record.value)
  if (fault !== null) refuse(visit, line, fault)
}

/** A line that cannot be used has a number all the same, if it says one; else it may stand for one. */
function passBad(visit: Visit, line: number, value: unknown, fault: Fault): void {
  const producer = visit.run?.producer ?? null
  const n: unknown = typeof value === "object" && value !== null ? Reflect.get(value, "n") : undefined
  if (producer === null || !Number.isSafeInteger(n)) {
    visit.unreadable += 1
    return refuse(visit, line, fault)
  }
  const place = placeOf(visit, producer, Number(n))
  if (place === "repeat") visit.repeated += 1
  else if (place === "gap") refuse(visit, line, { reason: "record_gap", want: producer.told + 1 })
  else {
    pass(visit, producer, Number(n))
    refuse(visit, line, fault)
  }
}

/** Where a number stands; those of lines that nobody could read are not missed. */
function placeOf({ unreadable }: Visit, { told }: Producer, n: number): "repeat" | "next" | "gap" {
  return n <= told ? "repeat" : n <= told + 1 + unreadable ? "next" : "gap"
}

function pass(visit: Visit, producer: Producer, n: number): void {
  visit.unreadable = 0
  producer.told = n
}

function takeRecord(room: Room, visit: Visit, run: Run, producer: Producer, record: StreamRecord): Fault | null {
  const { n } = record
  if (n !== undefined) {
    const place = placeOf(visit, producer, n)
    if (place === "repeat") {
      visit.repeated += 1
      return null
    }
    if (place === "gap") return { reason: "record_gap", want: producer.told + 1 }
    // Before what it brings is written, since it is written with that.
    pass(visit, producer, n)
  }
  const heard = hearRecord(run.recorder.message(), record)
  if (heard.do === "refuse") return heard.fault
  if (heard.do === "end" || heard.do === "cancel") visit.run = null
  tell(room.host, run, producer, heard)
  visit.applied += 1
  return null
}

function takenOf(room: Room, visit: Visit): Taken {
  const { applied, repeated, bad, skipped, fault, id } = visit
  if (skipped > 0) room.host.log("external_drift", { skipped, first: bad[0]?.code ?? null })
  return { fault, state: id === null ? null : stateOf(room, id), applied, repeated, bad, skipped }
}
