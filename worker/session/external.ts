/**
 * external.ts: answers that a producer outside tells, record by record, into a session.
 *
 * body → feed → EXTERNAL → recorder (clean, fold, store) → sockets
 * An answer from outside stands under the tip of the session and is written and shown like a model's. While it is open
 * the session is busy. Records may be numbered: what was taken is written with what it brought, so that a producer that
 * comes back goes on where it was, and nothing counts twice.
 */

import { idOf } from "../../shared/assemble.ts"
import type { TurnEvent } from "../../shared/event.ts"
import { type Fault, fail, faultToWire, type Result, succeed } from "../../shared/fault.ts"
import { parseJson } from "../../shared/frame.ts"
import {
  MAX_ANSWER_CHARS,
  MAX_BAD_LINES,
  MAX_EXTERNAL_BODY_BYTES,
  MAX_EXTERNAL_CALLS,
  MAX_EXTERNAL_DATA_CHARS,
  MAX_EXTERNAL_PARTS,
  MAX_RECORD_BYTES,
} from "../../shared/limits.ts"
import { callsOf, type ToolCall } from "../../shared/message.ts"
import { parseRecord, type StreamRecord } from "../../shared/record.ts"
import type { Env } from "../env.ts"
import { directoryOf } from "../tenant/directory.ts"
import type { Claims } from "../tenant/keys.ts"
import { isRevoked, type Revoked } from "../tenant/revocation.ts"
import { createOutput, type Output } from "./dispatch.ts"
import { Erased } from "./erase.ts"
import { createFeed, type Feed, type FeedLine } from "./feed.ts"
import { faultOfRecord, type Heard, hearRecord, tooLarge } from "./foreign.ts"
import {
  type ExternalState,
  isBusy,
  openAnswer,
  outsideRoomOf,
  sayWhole,
  stateOf,
  type ToldWhole,
  type Where,
} from "./outside.ts"
import { keepTold, noteLife, type Producer } from "./producer.ts"
import { log, type Room, sparing } from "./room.ts"
import { cancelRun, endThinking, failLater, finish, isOver, publish, type Run, say } from "./run.ts"

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
  /** What each call of that answer has said, as far as it is kept. */
  readonly outputs: Map<string, Output>
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
    revoke(revoked) {
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
    ...{ claims, where, run: null, id: null, outputs: new Map(), unreadable: 0, applied: 0, repeated: 0 },
    ...{ bad: [], skipped: 0, fault: null },
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
  let isBroken = false
  try {
    for await (const line of visit.feed.lines()) {
      if (visit.fault === null) orFail(room, visit, () => takeLine(room, visit, visits, line))
      if (line.isEndless) stop(visit, { reason: "body_too_large", max: MAX_RECORD_BYTES })
      if (visit.fault !== null) break
    }
  } catch {
    // The body broke off: what came before stays, and the answer stays open for its producer to come back.
    isBroken = true
  }
  orFail(room, visit, () => settle(room, visit, isBroken))
}

/** What is known of an answer is told at once; a new one is begun by its first record. */
function lookAhead(room: Room, visit: Visit, visits: ReadonlySet<Visit>, id: string): void {
  if (room.store.fromOutside(id) !== null) enter(room, visit, visits, id)
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

/** What was taken is shown and written down before it is told. */
function settle({ host, store }: Room, { run }: Visit, isBroken: boolean): void {
  if (run === null || run.producer === null || isOver(run)) return
  publish(host, run)
  keepTold(store, run.recorder.pos, run.producer)
  if (!isBroken) noteLife(host, run, run.producer, true)
}

/** Goes to the answer of this id, or begins it. False: there is a reason not to, and the request is over. */
function enter(room: Room, visit: Visit, visits: ReadonlySet<Visit>, id: string): boolean {
  const opened = openAnswer(room, id, visit.where.turnId)
  visit.id = id
  if (!opened.ok) {
    stop(visit, opened.fault)
    return false
  }
  const run = opened.value
  // Whoever comes back is the one that lives.
  for (const other of visits) {
    if (other === visit || other.run !== run) continue
    other.run = null
    stop(other, { reason: "turn_running" })
  }
  visit.run = run
  visit.outputs.clear()
  run.abort.signal.addEventListener("abort", () => {
    if (visit.run === run) stop(visit, { reason: "turn_ended" })
  })
  if (run.producer !== null) noteLife(room.host, run, run.producer)
  return true
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
  if (!record.ok) {
    passBad(visit, value)
    return refuse(visit, line, record.fault)
  }
  const id = idOf(record.value.responseId) ?? visit.where.responseId ?? visit.id ?? room.host.nextId()
  if (visit.run === null && visit.id === id) return refuse(visit, line, { reason: "turn_ended" })
  if (visit.run !== null && visit.id !== id) return refuse(visit, line, { reason: "turn_running" })
  // What nobody outside may say begins no answer either.
  if (visit.run === null) {
    const fault = faultOfRecord(record.value)
    if (fault !== null) return refuse(visit, line, fault)
    if (!enter(room, visit, visits, id)) return
  }
  const { run } = visit
  if (run === null || run.producer === null) return
  const fault = takeRecord(room, visit, run, run.producer, record.value)
  if (fault !== null) refuse(visit, line, fault)
}

/** A line that cannot be used has a number all the same, if it says one; else it may stand for one. */
function passBad(visit: Visit, value: unknown): void {
  const { run } = visit
  const n: unknown = typeof value === "object" && value !== null ? Reflect.get(value, "n") : undefined
  if (run?.producer != null && n === run.producer.told + 1) run.producer.told += 1
  else visit.unreadable += 1
}

function takeRecord(room: Room, visit: Visit, run: Run, producer: Producer, record: StreamRecord): Fault | null {
  const { n } = record
  if (n !== undefined) {
    if (n <= producer.told) {
      visit.repeated += 1
      return null
    }
    if (n > producer.told + 1 + visit.unreadable) return { reason: "record_gap", want: producer.told + 1 }
    visit.unreadable = 0
    // Before what it brings is written, since it is written with that.
    producer.told = n
  }
  const heard = withSize(visit, hearRecord(run.recorder.message(), record))
  switch (heard.do) {
    case "refuse":
      return heard.fault
    case "say":
      tell(room, run, producer, heard.events)
      break
    case "output":
      tellOutput(room, visit, run, producer, heard.call, heard.delta)
      break
    case "end":
      visit.run = null
      for (const event of heard.events) run.recorder.feed(event)
      finish(room.host, run, heard.status, heard.reason)
      room.host.goOn()
      break
    case "cancel":
      visit.run = null
      // Its own end drops nothing that it has said.
      publish(room.host, run)
      cancelRun(room.host, run)
      room.host.goOn()
      break
  }
  visit.applied += 1
  return null
}

/** The true size of what a call said, where more came than is kept. */
function withSize({ outputs }: Visit, heard: Heard): Heard {
  if (heard.do !== "say") return heard
  const events = heard.events.map((event) => {
    const size = event.type === "tool_result" ? (outputs.get(event.call_id)?.size() ?? null) : null
    return event.type === "tool_result" && size !== null ? { ...event, output_size: size } : event
  })
  return { ...heard, events }
}

/** All events of a record but the last wait for it: they are shown in one. */
function tell(room: Room, run: Run, producer: Producer, events: readonly TurnEvent[]): void {
  events.forEach((event, at) => {
    const kept = bounded(producer, event)
    run.said += kept.type === "tool_call" ? kept.args.length : "delta" in kept ? kept.delta.length : 0
    hearThought(room, run, kept)
    if (at < events.length - 1) run.recorder.feed(kept)
    else say(room.host, run, kept)
  })
  const { parts } = run.recorder.message()
  const isTooMuch = run.said > MAX_ANSWER_CHARS || parts.length > MAX_EXTERNAL_PARTS
  if (
    !isTooMuch &&
    (parts.length <= MAX_EXTERNAL_CALLS || callsOf(run.recorder.message()).length <= MAX_EXTERNAL_CALLS)
  )
    return
  finish(room.host, run, "failed", "answer_too_long")
  room.host.goOn()
}

/** How long it thought, where it does not say. */
function hearThought({ host }: Room, run: Run, event: TurnEvent): void {
  if (event.type === "thinking_delta") run.thinkingSince ??= host.now()
  else if (event.type === "thinking_done" && event.ms !== undefined) run.thinkingSince = null
  else if (event.type !== "step_start") endThinking(host, run)
}

/** Results beyond what one answer may hold are failed calls. */
function bounded(producer: Producer, event: TurnEvent): TurnEvent {
  if (event.type !== "tool_result") return event
  producer.data += event.result?.length ?? 0
  return producer.data > MAX_EXTERNAL_DATA_CHARS ? tooLarge(event.call_id) : event
}

function tellOutput(room: Room, visit: Visit, run: Run, producer: Producer, call: ToolCall, delta: string): void {
  producer.data += delta.length
  if (producer.data > MAX_EXTERNAL_DATA_CHARS) return
  const { call_id } = call
  let output = visit.outputs.get(call_id)
  if (output === undefined) {
    let isKnown = false
    output = createOutput((kept) => {
      if (isKnown) say(room.host, run, { type: "tool_output_delta", call_id, delta: kept })
    })
    // What it said in an earlier request counts toward its bound.
    output.say(call.output)
    isKnown = true
    visit.outputs.set(call_id, output)
  }
  output.say(delta)
}

function takenOf(room: Room, visit: Visit): Taken {
  const { applied, repeated, bad, skipped, fault, id } = visit
  if (skipped > 0) room.host.log("external_drift", { skipped, first: bad[0]?.code ?? null })
  return { fault, state: id === null ? null : stateOf(room, id), applied, repeated, bad, skipped }
}
