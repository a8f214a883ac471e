/**
 * producer-ingress.ts: answers that a producer outside tells, record by record, into a session.
 *
 * body → feed → EXTERNAL → recorder (clean, fold, store) → sockets
 * An answer from outside stands under the tip of the session and is written and shown like a model's. While it is open
 * the session is busy. Records may be numbered: what was taken is written with what it brought, so that a producer that
 * comes back goes on where it was, and nothing counts twice.
 */

import { toPublicId } from "../../shared/ingest/assembler.ts"
import { type Fault, fail, faultToWire, type Result, succeed } from "../../shared/fault.ts"
import { findRecordFault, interpretRecord } from "../../shared/ingest/external-record.ts"
import { parseJson } from "../../shared/json.ts"
import { MAX_BAD_LINES, MAX_EXTERNAL_BODY_BYTES, MAX_RECORD_BYTES } from "../../shared/limits.ts"
import { parseRecord, type StreamRecord } from "../../shared/protocol/record.ts"
import type { Env } from "../env.ts"
import { getDirectoryStub } from "../auth/user-directory.ts"
import type { Claims } from "../auth/verify-token.ts"
import { isRevoked, NO_REVOCATIONS, type RevocationState } from "../auth/revocation.ts"
import { SessionErasedError } from "../store/storage-gate.ts"
import { createRecordLineReader, type RecordLineReader, type RecordLine } from "./record-lines.ts"
import {
  type ExternalState,
  isSessionBusy,
  openExternalAnswer,
  authorizeProducer,
  writeCompleteAnswer,
  readExternalState,
  type CompleteAnswerState,
  type AnswerRef,
} from "./producer-answers.ts"
import { endSilentRun, extendDeadline, type Producer } from "../turn/external-run.ts"
import { log } from "../platform/log.ts"
import { type LiveSession, withSeqRollback } from "./live-session.ts"
import { recordFailure, isRunEnded, publishChanges, type TurnRun } from "../turn/turn-run.ts"
import { applyRecord } from "./apply-record.ts"

export interface RefusedLine {
  readonly line: number
  readonly code: string
  readonly text: string
}

/** What came of one request. */
export interface IngestResult {
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
interface ProducerRequest {
  readonly claims: Claims
  readonly answerRef: AnswerRef
  lineReader: RecordLineReader
  /** The answer that its records go to. */
  run: TurnRun | null
  /** Id of the newest answer that it spoke of. */
  answerId: string | null
  /** Its end ends the request. */
  readonly onAbort: () => void
  /** Where `onAbort` listens. */
  abortSignal: AbortSignal | null
  /** Lines since the last numbered record whose number nobody can read. */
  unreadableLines: number
  applied: number
  repeated: number
  readonly bad: RefusedLine[]
  skipped: number
  fault: Fault | null
}

export interface ProducerIngress {
  /** Reads one request to its end, or until there is a reason not to. Never throws for what comes from outside. */
  ingestRecords(
    session: LiveSession | null,
    claims: Claims,
    answerRef: AnswerRef,
    body: ReadableStream<Uint8Array> | null,
  ): Promise<Result<IngestResult>>
  /** Takes an answer that is told whole. */
  acceptCompleteAnswer(
    session: LiveSession | null,
    claims: Claims,
    answerRef: AnswerRef,
    text: string,
  ): Result<CompleteAnswerState>
  /** How an answer stands. */
  readState(session: LiveSession | null, claims: Claims, id: string): Result<ExternalState>
  /** Whoever sends with a revoked token is stopped. */
  stopRevoked(revoked: RevocationState): void
}

/**
 * The door of one object: it knows who is sending now, and lets nobody in who is not for this room (law 12).
 *
 * Errors  `session_unknown`, `token_revoked`; what is wrong with the records is told in `Taken`.
 * Source  SPEC EX1–EX22.
 */
export function createProducerIngress(env: Env): ProducerIngress {
  const requests = new Set<ProducerRequest>()
  let revoked = NO_REVOCATIONS
  const reportActivity = ({ row: session }: LiveSession): void => {
    const touched = getDirectoryStub(env, session).recordActivity(session.id, Date.now())
    touched.catch(() => log("touch_failed", { id: session.id }))
  }
  return {
    async ingestRecords(session, claims, answerRef, body) {
      const authorized = authorizeProducer(session, claims)
      if (authorized === null) return fail({ reason: "session_unknown" })
      // As with a socket: from here on the directory tells this object of revocations.
      const admitted = await getDirectoryStub(env, claims).authorizeSocket(claims, authorized.row.id)
      if (!admitted.ok) return admitted
      // It may have been revoked after it was asked, while this request was none that could be stopped.
      if (isRevoked(claims, revoked)) return fail({ reason: "token_revoked" })
      reportActivity(authorized)
      const request = beginRequest(authorized, claims, answerRef, body)
      requests.add(request)
      try {
        await readRequest(authorized, request, requests)
        return succeed(toIngestResult(authorized, request))
      } catch (error) {
        if (error instanceof SessionErasedError) return fail({ reason: "session_unknown" })
        throw error
      } finally {
        detachAnswer(request)
        request.lineReader.stopReading()
        requests.delete(request)
      }
    },
    acceptCompleteAnswer(session, claims, answerRef, text) {
      const authorized = authorizeProducer(session, claims)
      if (authorized === null) return fail({ reason: "session_unknown" })
      reportActivity(authorized)
      return withSeqRollback(authorized, () => writeCompleteAnswer(authorized, answerRef, text))
    },
    readState(session, claims, id) {
      const authorized = authorizeProducer(session, claims)
      if (authorized === null) return fail({ reason: "session_unknown" })
      const state = readExternalState(authorized, id)
      return state === null ? fail({ reason: "turn_unknown" }) : succeed(state)
    },
    stopRevoked(newest) {
      if (newest.n > revoked.n) revoked = newest
      for (const request of requests)
        if (isRevoked(request.claims, revoked)) stopRequest(request, { reason: "token_revoked" })
    },
  }
}

function beginRequest(
  session: LiveSession,
  claims: Claims,
  answerRef: AnswerRef,
  body: ReadableStream<Uint8Array> | null,
): ProducerRequest {
  const { host } = session
  let bytesLeft = MAX_EXTERNAL_BODY_BYTES
  const onBytes = (bytes: number): void => {
    bytesLeft -= bytes
    if (bytesLeft < 0) return stopRequest(request, { reason: "body_too_large", max: MAX_EXTERNAL_BODY_BYTES })
    if (claims.expires * 1000 <= host.now()) return stopRequest(request, { reason: "token_expired" })
    const { run } = request
    if (run?.producer != null) extendDeadline(host, run, run.producer)
  }
  const request: ProducerRequest = {
    claims,
    answerRef,
    run: null,
    answerId: null,
    abortSignal: null,
    unreadableLines: 0,
    applied: 0,
    repeated: 0,
    bad: [],
    skipped: 0,
    fault: null,
    onAbort() {
      const { run } = request
      if (run !== null) stopRequest(request, { reason: run.failure === null ? "turn_ended" : "internal" })
    },
    lineReader: createRecordLineReader(body, host.times.producerSilenceMs, onBytes),
  }
  return request
}

function stopRequest(request: ProducerRequest, fault: Fault): void {
  request.fault ??= fault
  request.lineReader.stopReading()
}

async function readRequest(
  session: LiveSession,
  request: ProducerRequest,
  requests: ReadonlySet<ProducerRequest>,
): Promise<void> {
  const { responseId } = request.answerRef
  if (responseId !== undefined)
    catchWriteFailure(session, request, () => attachKnownAnswer(session, request, requests, responseId))
  if (request.fault !== null) return
  try {
    for await (const line of request.lineReader.readLines()) {
      if (request.fault === null) catchWriteFailure(session, request, () => applyLine(session, request, requests, line))
      if (line.isOverlong) stopRequest(request, { reason: "body_too_large", max: MAX_RECORD_BYTES })
      if (request.fault !== null) break
    }
  } catch {
    // The body broke off: what came before stays, and the answer stays open for its producer to come back.
  }
  catchWriteFailure(session, request, () => finishRequest(session, request))
}

/** What is known of an answer is told at once; a new one is begun by its first record. */
function attachKnownAnswer(
  session: LiveSession,
  request: ProducerRequest,
  requests: ReadonlySet<ProducerRequest>,
  id: string,
): void {
  if (session.store.findExternalAnswer(id) !== null) attachAnswer(session, request, requests, id, undefined)
  else if (isSessionBusy(session)) stopRequest(request, { reason: "turn_running" })
}

/** A write that failed ends the answer from its rows, as it does with ours. */
function catchWriteFailure<T>(session: LiveSession, request: ProducerRequest, work: () => T): T | null {
  try {
    return work()
  } catch (error) {
    if (error instanceof SessionErasedError) throw error
    session.host.log("external_error", { message: error instanceof Error ? error.message : "unknown" })
    session.host.resetSeq()
    stopRequest(request, { reason: "internal" })
    if (request.run !== null) recordFailure(request.run, error)
    session.host.resume()
    return null
  }
}

/** What was taken is shown and written down before it is told. Of an answer that failed nothing more is written. */
function finishRequest({ host }: LiveSession, { run, lineReader: feed }: ProducerRequest): void {
  if (run === null || run.producer === null || isRunEnded(run) || run.failure !== null) return
  if (feed.endedBy() === "silence") return endSilentRun(host, run)
  publishChanges(host, run)
  // A body that broke off, or that was not read to its end, gave its last sign of life before.
  if (feed.endedBy() === "body") extendDeadline(host, run, run.producer, true)
}

/** Goes to the answer of this id, or begins it. False: there is a reason not to, and the request is over. */
function attachAnswer(
  session: LiveSession,
  request: ProducerRequest,
  requests: ReadonlySet<ProducerRequest>,
  id: string,
  turnId: string | undefined,
): boolean {
  const opened = openExternalAnswer(session, id, turnId)
  request.answerId = id
  if (!opened.ok) {
    stopRequest(request, opened.fault)
    return false
  }
  const run = opened.value
  // Whoever comes back is the one that lives.
  for (const other of requests) {
    if (other === request || other.run !== run) continue
    detachAnswer(other)
    stopRequest(other, { reason: "turn_running" })
  }
  detachAnswer(request)
  request.run = run
  run.abort.signal.addEventListener("abort", request.onAbort)
  request.abortSignal = run.abort.signal
  if (run.producer !== null) extendDeadline(session.host, run, run.producer)
  return true
}

/** It has nothing more to do with its answer. */
function detachAnswer(request: ProducerRequest): void {
  request.abortSignal?.removeEventListener("abort", request.onAbort)
  request.abortSignal = null
  request.run = null
}

function refuseLine(request: ProducerRequest, line: number, fault: Fault): void {
  request.skipped += 1
  if (request.bad.length >= MAX_BAD_LINES) return
  const { code, text } = faultToWire(fault)
  request.bad.push({ line, code, text })
}

function applyLine(
  session: LiveSession,
  request: ProducerRequest,
  requests: ReadonlySet<ProducerRequest>,
  { n: line, text }: RecordLine,
): void {
  const value = text.ok ? parseJson(text.value) : undefined
  const record = text.ok ? parseRecord(value) : text
  if (!record.ok) return refuseBadLine(request, line, value, record.fault)
  const id =
    toPublicId(record.value.responseId) ?? request.answerRef.responseId ?? request.answerId ?? session.host.nextId()
  if (request.run === null && request.answerId === id) return refuseLine(request, line, { reason: "turn_ended" })
  if (request.run !== null && request.answerId !== id) return refuseLine(request, line, { reason: "turn_running" })
  // What nobody outside may say begins no answer either.
  if (request.run === null) {
    const fault = findRecordFault(record.value)
    if (fault !== null) return refuseBadLine(request, line, value, fault)
    if (!attachAnswer(session, request, requests, id, toPublicId(record.value.turnId) ?? request.answerRef.turnId))
      return
  }
  const { run } = request
  if (run === null || run.producer === null) return
  const fault = applyNumberedRecord(session, request, run, run.producer, record.value)
  if (fault !== null) refuseLine(request, line, fault)
}

/** A line that cannot be used has a number all the same, if it says one; else it may stand for one. */
function refuseBadLine(request: ProducerRequest, line: number, value: unknown, fault: Fault): void {
  const producer = request.run?.producer ?? null
  const n: unknown = typeof value === "object" && value !== null ? Reflect.get(value, "n") : undefined
  if (producer === null || !Number.isSafeInteger(n)) {
    request.unreadableLines += 1
    return refuseLine(request, line, fault)
  }
  const numberState = classifyNumber(request, producer, Number(n))
  if (numberState === "repeat") request.repeated += 1
  else if (numberState === "gap")
    refuseLine(request, line, { reason: "record_gap", nextNumber: producer.ackedRecord + 1 })
  else {
    acknowledgeRecord(request, producer, Number(n))
    refuseLine(request, line, fault)
  }
}

/** Where a number stands; those of lines that nobody could read are not missed. */
function classifyNumber(
  { unreadableLines: unreadable }: ProducerRequest,
  { ackedRecord: told }: Producer,
  n: number,
): "repeat" | "next" | "gap" {
  return n <= told ? "repeat" : n <= told + 1 + unreadable ? "next" : "gap"
}

function acknowledgeRecord(request: ProducerRequest, producer: Producer, n: number): void {
  request.unreadableLines = 0
  producer.ackedRecord = n
}

function applyNumberedRecord(
  session: LiveSession,
  request: ProducerRequest,
  run: TurnRun,
  producer: Producer,
  record: StreamRecord,
): Fault | null {
  const { n } = record
  if (n !== undefined) {
    const numberState = classifyNumber(request, producer, n)
    if (numberState === "repeat") {
      request.repeated += 1
      return null
    }
    if (numberState === "gap") return { reason: "record_gap", nextNumber: producer.ackedRecord + 1 }
    // Before what it brings is written, since it is written with that.
    acknowledgeRecord(request, producer, n)
  }
  const action = interpretRecord(run.recorder.currentMessage(), record)
  if (action.do === "refuse") return action.fault
  if (action.do === "end" || action.do === "cancel") request.run = null
  applyRecord(session.host, run, producer, action)
  request.applied += 1
  return null
}

function toIngestResult(session: LiveSession, request: ProducerRequest): IngestResult {
  const { applied, repeated, bad, skipped, fault, answerId: id } = request
  if (skipped > 0) session.host.log("external_drift", { skipped, first: bad[0]?.code ?? null })
  return { fault, state: id === null ? null : readExternalState(session, id), applied, repeated, bad, skipped }
}
