/**
 * producer-request.ts: one request of an external producer, read line by line while its body is still being sent.
 *
 * body ▶ lines ▶ records ▶ the run of the answer
 * Records may be numbered. The number of the newest accepted record is stored in the same transaction as its effect, so
 * that a producer can reconnect and each record takes effect at most once (SPEC EX9, EX16, EX17).
 */

import type { Fault } from "../../../shared/fault.ts"
import { toPublicId } from "../../../shared/ingest/public-id.ts"
import { findRecordFault, interpretRecord } from "../../../shared/ingest/external-record.ts"
import { MAX_EXTERNAL_BODY_BYTES, MAX_RECORD_BYTES } from "../../../shared/limits.ts"
import { parseRecord, type StreamRecord } from "../../../shared/protocol/record.ts"
import { describeError, log } from "../../platform/log.ts"
import { SessionErasedError } from "../../store/storage-gate.ts"
import { endSilentRun, extendDeadline, type Producer } from "../../turn/external-run.ts"
import { isRunEnded, publishChanges, recordFailure, type TurnRun } from "../../turn/turn-run.ts"
import { applyRecord } from "./apply-record.ts"
import { IngestTally } from "./ingest-tally.ts"
import type { LiveSession } from "../live-session.ts"
import { isSessionBusy, openExternalAnswer, readExternalState } from "./producer-answers.ts"
import { createRecordLineReader, type RecordLine, type RecordLineReader } from "./record-lines.ts"
import { parseJsonToDepth } from "../../../shared/json-depth.ts"
import type { Claims } from "../../platform/rpc/claims.ts"
import type { AnswerRef, IngestResult } from "../../platform/rpc/session-types.ts"

export class ProducerRequest {
  readonly claims: Claims
  readonly #session: LiveSession
  readonly #answerRef: AnswerRef
  readonly #lineReader: RecordLineReader
  /** All requests of the session that are being read. */
  readonly #openRequests: ReadonlySet<ProducerRequest>
  readonly #tally = new IngestTally()
  /** The open answer to which the records belong. */
  #run: TurnRun | null = null
  /** The signal on which `#onAbort` is registered. */
  #abortSignal: AbortSignal | null = null
  /** Id of the newest answer of this request. */
  #answerId: string | null = null
  /** Number of lines with an unreadable number since the last numbered record. */
  #unreadableLines = 0
  #bytesLeft = MAX_EXTERNAL_BODY_BYTES
  #fault: Fault | null = null

  constructor(
    session: LiveSession,
    claims: Claims,
    answerRef: AnswerRef,
    body: ReadableStream<Uint8Array> | null,
    openRequests: ReadonlySet<ProducerRequest>,
  ) {
    this.claims = claims
    this.#session = session
    this.#answerRef = answerRef
    this.#openRequests = openRequests
    const { producerSilenceMs } = session.host.times
    this.#lineReader = createRecordLineReader(body, producerSilenceMs, (bytes) => this.#countBytes(bytes))
  }

  /** Reads the body to its end, or until the request is stopped. Throws only if the session was erased. */
  async read(): Promise<void> {
    const { responseId } = this.#answerRef
    if (responseId !== undefined) this.#catchWriteFailure(() => this.#attachKnownAnswer(responseId))
    if (this.#fault !== null) return
    try {
      for await (const line of this.#lineReader.readLines()) {
        if (this.#fault === null) this.#catchWriteFailure(() => this.#applyLine(line))
        if (line.isOverlong) this.stop({ reason: "body_too_large", max: MAX_RECORD_BYTES })
        if (this.#fault !== null) break
      }
    } catch {
      // The body was cut off. Applied records are kept, and the answer remains open so that the producer can reconnect.
    }
    this.#catchWriteFailure(() => this.#finish())
  }

  /** Stops reading. Only the first fault is reported. */
  stop(fault: Fault): void {
    this.#fault ??= fault
    this.#lineReader.stopReading()
  }

  /** Releases the answer and the body. */
  dispose(): void {
    this.#detach()
    this.#lineReader.stopReading()
  }

  result(): IngestResult {
    const { applied, repeated, bad, skipped } = this.#tally
    if (skipped > 0) log("external_drift", { skipped, first: bad[0]?.code ?? null })
    const state = this.#answerId === null ? null : readExternalState(this.#session, this.#answerId)
    return { fault: this.#fault, state, applied, repeated, bad, skipped }
  }

  /** Counts received bytes. Every byte extends the deadline (SPEC EX8). */
  #countBytes(bytes: number): void {
    const { host } = this.#session
    this.#bytesLeft -= bytes
    if (this.#bytesLeft < 0) return this.stop({ reason: "body_too_large", max: MAX_EXTERNAL_BODY_BYTES })
    if (this.claims.expires * 1000 <= host.now()) return this.stop({ reason: "token_expired" })
    if (this.#run?.producer != null) extendDeadline(host, this.#run, this.#run.producer)
  }

  /**
   * Attaches the request to an existing answer at once, so that even a response to an empty body contains the answer's
   * state. A new answer begins with its first record.
   */
  #attachKnownAnswer(id: string): void {
    if (this.#session.store.findExternalAnswer(id) !== null) this.#attach(id, undefined)
    else if (isSessionBusy(this.#session)) this.stop({ reason: "turn_running" })
  }

  /** Opens or begins the answer with this id. Returns false, and stops the request, if that fails. */
  #attach(id: string, turnId: string | undefined): boolean {
    const opened = openExternalAnswer(this.#session, id, turnId)
    this.#answerId = id
    if (!opened.ok) {
      this.stop(opened.fault)
      return false
    }
    const run = opened.value
    // A producer that reconnects takes over from its own earlier request.
    for (const other of this.#openRequests) {
      if (other === this || other.#run !== run) continue
      other.#detach()
      other.stop({ reason: "turn_running" })
    }
    this.#detach()
    this.#run = run
    run.abort.signal.addEventListener("abort", this.#onAbort)
    this.#abortSignal = run.abort.signal
    if (run.producer !== null) extendDeadline(this.#session.host, run, run.producer)
    return true
  }

  #detach(): void {
    this.#abortSignal?.removeEventListener("abort", this.#onAbort)
    this.#abortSignal = null
    this.#run = null
  }

  /** Ends the request when the answer has ended. */
  readonly #onAbort = (): void => {
    if (this.#run !== null) this.stop({ reason: this.#run.failure === null ? "turn_ended" : "internal" })
  }

  /** Runs a write. If it fails, the answer ends with what is already stored, as a model's answer does (SPEC EX18). */
  #catchWriteFailure(write: () => void): void {
    const { host } = this.#session
    try {
      write()
    } catch (error) {
      if (error instanceof SessionErasedError) throw error
      log("external_error", { error: describeError(error) })
      host.resetSeq()
      this.stop({ reason: "internal" })
      if (this.#run !== null) recordFailure(this.#run, error)
      host.resume()
    }
  }

  /** Writes and shows the accepted records before the response reports them. Nothing is written to a failed answer. */
  #finish(): void {
    const { host } = this.#session
    const run = this.#run
    if (run === null || run.producer === null || isRunEnded(run) || run.failure !== null) return
    if (this.#lineReader.endedBy() === "silence") return endSilentRun(host, run)
    publishChanges(host, run)
    // If the body was cut off or not read to its end, its last bytes have already extended the deadline.
    if (this.#lineReader.endedBy() === "body") extendDeadline(host, run, run.producer, true)
  }

  #applyLine({ n: line, text }: RecordLine): void {
    const value = text.ok ? parseJsonToDepth(text.value) : undefined
    const parsed = text.ok ? parseRecord(value) : text
    if (!parsed.ok) return this.#refuseBadLine(line, value, parsed.fault)
    const record = parsed.value
    const id =
      toPublicId(record.responseId) ?? this.#answerRef.responseId ?? this.#answerId ?? this.#session.host.nextId()
    if (this.#run === null && this.#answerId === id) return this.#tally.refuse(line, { reason: "turn_ended" })
    if (this.#run !== null && this.#answerId !== id) return this.#tally.refuse(line, { reason: "turn_running" })
    if (this.#run === null) {
      // A refused record does not begin an answer.
      const fault = findRecordFault(record)
      if (fault !== null) return this.#refuseBadLine(line, value, fault)
      if (!this.#attach(id, toPublicId(record.turnId) ?? this.#answerRef.turnId)) return
    }
    // `#attach` has assigned it.
    const run: TurnRun | null = this.#run
    if (run === null || run.producer === null) return
    const fault = this.#applyNumberedRecord(run, run.producer, record)
    if (fault !== null) this.#tally.refuse(line, fault)
  }

  /**
   * Acknowledges an unusable line by its number. If the number is unreadable, the line may have had the next expected
   * number.
   */
  #refuseBadLine(line: number, value: unknown, fault: Fault): void {
    const producer = this.#run?.producer ?? null
    const n: unknown = typeof value === "object" && value !== null ? Reflect.get(value, "n") : undefined
    if (producer === null || !Number.isSafeInteger(n)) {
      this.#unreadableLines += 1
      return this.#tally.refuse(line, fault)
    }
    const refusal = this.#acknowledge(producer, Number(n))
    if (refusal === "repeated") this.#tally.repeated += 1
    else this.#tally.refuse(line, refusal ?? fault)
  }

  #applyNumberedRecord(run: TurnRun, producer: Producer, record: StreamRecord): Fault | null {
    // Acknowledged before the effect is written, because both are stored together.
    const refusal = record.n === undefined ? null : this.#acknowledge(producer, record.n)
    if (refusal === "repeated") {
      this.#tally.repeated += 1
      return null
    }
    if (refusal !== null) return refusal
    const effect = interpretRecord(run.recorder.currentMessage(), producer.streamed, record)
    if (effect.do === "refuse") return effect.fault
    if (effect.do === "end" || effect.do === "cancel") this.#run = null
    applyRecord(this.#session.host, run, producer, effect)
    this.#tally.applied += 1
    return null
  }

  /**
   * Acknowledges record number `n`. Returns null if it was the next one. Unreadable lines may account for skipped
   * numbers.
   */
  #acknowledge(producer: Producer, n: number): "repeated" | Fault | null {
    const { ackedRecord } = producer
    if (n <= ackedRecord) return "repeated"
    if (n > ackedRecord + 1 + this.#unreadableLines) return { reason: "record_gap", nextNumber: ackedRecord + 1 }
    this.#unreadableLines = 0
    producer.ackedRecord = n
    return null
  }
}
