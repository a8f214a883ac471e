/**
 * assembler.ts: assembles records from any producer into messages.
 *
 * records, in reading order → ASSEMBLER → open answers → messages
 * Accepts turn records, stream events and mixtures of both (SPEC RE9). A record without `responseId` belongs to the
 * open answer of the turn that the last question began. Events for a message that is already closed are returned
 * separately, so memory use is bounded by one turn, however long the transcript is. Pure.
 */

import type { TurnEvent } from "../protocol/event.ts"
import { MAX_IMPORTED_PENDING_CALLS } from "../limits.ts"
import type { StreamRecord } from "../protocol/record.ts"
import { type AssembledMessage, assembleAnswer, readPlacement } from "./assembly/assemble-answer.ts"
import { createResultEvent } from "./call-events.ts"
import type { KindTotals } from "./history/kind-counts.ts"
import {
  type AnswerRecord,
  applyRecord,
  createOpenAnswer,
  fillOpenCall,
  type OpenAnswer,
  type TurnStartRecord,
} from "./assembly/open-answer.ts"
import { type DeferredCall, listPendingCalls, type PendingCall, toPendingCall } from "./assembly/pending-calls.ts"
import { toPublicId } from "./public-id.ts"
import { createQuestion, listNamedQuestions, readCallback } from "./assembly/question-record.ts"
import { readEventTime, readRecordTime } from "./assembly/record-time.ts"

export type { AssembledMessage }

/**
 * Maximum number of an imported turn's answers, and of the records of these answers, that are held in memory at once.
 * Beyond that, the turn is stored, and further records begin new answers. SPEC RE41.
 */
export const MAX_OPEN_ANSWERS = 64
export const MAX_OPEN_RECORDS = 200_000

/** Events for a message that was already closed. */
export interface LateEvents {
  readonly kind: "late"
  readonly id: string
  readonly events: readonly TurnEvent[]
  /** The time of the record that the events come from, in ISO 8601; undefined if it is unknown. */
  readonly at: string | undefined
  /**
   * The number of dropped records with visible content, by kind. Only results are accepted after the end of a message.
   */
  readonly lost: KindTotals
}

/** The ids of the closed messages. */
export interface ClosedIds {
  has(id: string): boolean
  add(id: string): void
}

export interface Assembler {
  /**
   * Adds record number `n` of the file. Returns the messages of the turn that the record closes, the question first. A
   * message without an id is named after the record that opened it.
   */
  addRecord(record: StreamRecord, n: number): readonly (AssembledMessage | LateEvents)[]
  /** Ends the file and closes the last turn. */
  end(): readonly (AssembledMessage | LateEvents)[]
}

/**
 * Shapes: records → messages, in the order in which they were closed. Other systems' ids are converted to valid ids.
 *         Assets and grants are accepted only from a verified file, and otherwise dropped.
 * Cost: time linear in the number of records, and the memory of one turn. `closedIds` is queried once per message and
 * once per late record.
 * Source: SPEC RE9, RE12.
 */
export function createAssembler(
  closedIds: ClosedIds = new Set<string>(),
  deferredCalls: readonly DeferredCall[] = [],
  isVerified = true,
): Assembler {
  return new TurnAssembler(closedIds, deferredCalls.map(toPendingCall), isVerified)
}

type CallbackRecord = Extract<TurnStartRecord, { type: "agent_callback" }>

class TurnAssembler implements Assembler {
  readonly #closedIds: ClosedIds
  readonly #isVerified: boolean
  /** Calls in closed answers whose final results have not arrived. */
  readonly #pendingCalls: PendingCall[]
  /** Calls whose result has already arrived in a callback, by the ids of their questions. */
  readonly #answeredCalls = new Map<string, string>()
  /** The answers of the current turn, by the ids in their records. */
  readonly #openAnswers = new Map<string, OpenAnswer>()
  /** The number of records in the open answers, including callbacks. */
  #openRecords = 0
  #question: AssembledMessage | null = null
  #exchangeId = ""
  #recordNumber = 0

  constructor(closedIds: ClosedIds, pendingCalls: PendingCall[], isVerified: boolean) {
    this.#closedIds = closedIds
    this.#pendingCalls = pendingCalls
    this.#isVerified = isVerified
  }

  addRecord(record: StreamRecord, n: number): readonly (AssembledMessage | LateEvents)[] {
    this.#recordNumber = n
    if (isTurnStart(record)) return this.#addTurnStart(record)
    if (record.type === "signature" || record.type === "asset") return []
    const id = toPublicId(record.responseId)
    // A record that names the question or its turn belongs to the answer to that question.
    const isCurrent = id === null || id === this.#exchangeId || this.#openAnswers.has(id) || !this.#closedIds.has(id)
    if (!isCurrent) return [this.#toLateEvents(id, record)]
    const finished = this.#isFull(id) ? this.#closeTurn() : []
    applyRecord(this.#findOrOpenAnswer(record), record)
    this.#openRecords += 1
    return finished
  }

  end(): readonly AssembledMessage[] {
    return this.#closeTurn()
  }

  /**
   * Returns whether the turn is so large that it must be closed before the next record. `id`: the answer that this
   * record names.
   */
  #isFull(id: string | null): boolean {
    const isNew = id !== null && !this.#openAnswers.has(id)
    return this.#openRecords >= MAX_OPEN_RECORDS || (isNew && this.#openAnswers.size >= MAX_OPEN_ANSWERS)
  }

  #closeTurn(): AssembledMessage[] {
    const answers = [...this.#openAnswers.values()].map(assembleAnswer)
    const finished = this.#question === null ? answers : [this.#question, ...answers]
    for (const { message } of finished) {
      this.#pendingCalls.push(...listPendingCalls(message))
      this.#closedIds.add(message.id)
    }
    this.#pendingCalls.splice(0, this.#pendingCalls.length - MAX_IMPORTED_PENDING_CALLS)
    this.#openAnswers.clear()
    this.#openRecords = 0
    this.#question = null
    return finished
  }

  #addTurnStart(given: TurnStartRecord): (AssembledMessage | LateEvents)[] {
    const record = given.type === "agent_message" ? (readCallback(given) ?? given) : given
    if (record.type !== "agent_callback") return this.#beginTurn(record, null)
    if (this.#isRepeatedCallback(record)) return []
    const isOpen = [...this.#openAnswers.values()].some(({ isAtEnd }) => !isAtEnd)
    const isInAnswer = record.pos === undefined && isOpen && !this.#isFull(null)
    if (isInAnswer) return this.#addCallbackToAnswer(record)
    const finished = this.#closeTurn()
    const late = this.#fillPendingCall(record)
    return [...finished, ...this.#beginTurn(record, this.#findAnsweredCall(record)), ...late]
  }

  /** Closes the open turn and begins the next one. `call_id`: if the record is a callback, the call that it answers. */
  #beginTurn(record: TurnStartRecord, call_id: string | null): AssembledMessage[] {
    const finished = this.#closeTurn()
    const id = this.#chooseQuestionId(record, finished)
    this.#exchangeId = toPublicId(record.turnId) ?? id
    const message = createQuestion(record, { id, exchangeId: this.#exchangeId, call_id, isVerified: this.#isVerified })
    const attachments = record.type === "user_message" ? (record.attachments ?? []) : []
    const lostFiles = attachments.length - message.attachments.length
    const lost = lostFiles > 0 ? { file: lostFiles } : {}
    this.#question = { kind: "message", message, lost, ...readPlacement(record) }
    return finished
  }

  /**
   * Returns whether the callback repeats the current question: some systems write a callback, and then its text again
   * as the question of the turn that it starts.
   */
  #isRepeatedCallback({ text, pos }: CallbackRecord): boolean {
    if (pos !== undefined || this.#openAnswers.size > 0) return false
    const message = this.#question?.message
    return message?.agent?.call_id !== undefined && message.words === text
  }

  /**
   * Adds a callback that arrives while an answer is being written. It becomes the result of its call, so that the rest
   * of the answer is not cut off. If there is no such call, the callback is shown as a separate result.
   */
  #addCallbackToAnswer(record: CallbackRecord): LateEvents[] {
    this.#openRecords += 1
    const answers = [...this.#openAnswers.values()]
    const ids = listNamedQuestions(record)
    for (const answer of answers) {
      const call_id = fillOpenCall(answer, ids, record.text)
      if (call_id === null) continue
      this.#rememberAnsweredCall(ids, call_id)
      return []
    }
    const late = this.#fillPendingCall(record)
    const last = answers.at(-1)
    if (late.length === 0 && last !== undefined) {
      const callId = ids[0] ?? this.#createId()
      applyRecord(last, { type: "tool_result", callId, toolName: "agent_callback", ok: true, result: record.text })
    }
    return late
  }

  /** Fills in the result of a call in a closed answer if the callback answers this call. */
  #fillPendingCall(record: CallbackRecord): LateEvents[] {
    const ids = listNamedQuestions(record)
    const index = this.#pendingCalls.findIndex(
      ({ call_id, questionIds }) => ids.includes(call_id) || questionIds.some((id) => ids.includes(id)),
    )
    return this.#pendingCalls.splice(index, index < 0 ? 0 : 1).map(({ id, call_id }) => {
      this.#rememberAnsweredCall(ids, call_id)
      return {
        kind: "late",
        id,
        events: [createResultEvent(call_id, "ok", record.text, null, null)],
        at: readEventTime(record),
        lost: {},
      }
    })
  }

  #rememberAnsweredCall(ids: readonly string[], call_id: string): void {
    for (const id of ids) this.#answeredCalls.set(id, call_id)
    const [oldest] = this.#answeredCalls.keys()
    if (this.#answeredCalls.size > MAX_IMPORTED_PENDING_CALLS && oldest !== undefined)
      this.#answeredCalls.delete(oldest)
  }

  #findAnsweredCall(record: CallbackRecord): string | null {
    const ids = listNamedQuestions(record)
    return ids.map((id) => this.#answeredCalls.get(id)).find((call_id) => call_id !== undefined) ?? null
  }

  /**
   * Returns the id that the record names, or a new one if that id is already used: two questions of one turn are two
   * messages.
   */
  #chooseQuestionId(record: TurnStartRecord, finished: readonly AssembledMessage[]): string {
    const messageId = record.type === "user_message" ? record.messageId : undefined
    const givenId = toPublicId(record.responseId ?? messageId ?? record.turnId)
    const isFree =
      givenId !== null && !finished.some(({ message }) => message.id === givenId) && !this.#closedIds.has(givenId)
    return isFree ? givenId : this.#createId()
  }

  #findOrOpenAnswer(record: AnswerRecord): OpenAnswer {
    const givenId = toPublicId(record.responseId)
    const id = givenId ?? [...this.#openAnswers.keys()].at(-1) ?? this.#createId()
    return this.#openAnswers.get(id) ?? this.#nameAnswer(id) ?? this.#openAnswer(id, givenId !== null, record)
  }

  /** Assigns the first id that a record names to the answer that began without an id. */
  #nameAnswer(id: string): OpenAnswer | null {
    const unnamed = [...this.#openAnswers.values()].find((answer) => !answer.hasKnownId)
    if (unnamed === undefined) return null
    this.#openAnswers.delete(unnamed.id)
    const named: OpenAnswer = { ...unnamed, id: this.#isIdTaken(id) ? unnamed.id : id, hasKnownId: true }
    this.#openAnswers.set(id, named)
    return named
  }

  #openAnswer(key: string, hasKnownId: boolean, record: AnswerRecord): OpenAnswer {
    const id = this.#isIdTaken(key) ? this.#createId() : key
    const exchangeId = toPublicId(record.turnId) ?? (this.#exchangeId === "" ? key : this.#exchangeId)
    const timestamp = readRecordTime(record)
    const answer = createOpenAnswer({ id, hasKnownId, exchangeId, timestamp, isVerified: this.#isVerified })
    this.#openAnswers.set(key, answer)
    return answer
  }

  #toLateEvents(id: string, record: AnswerRecord): LateEvents {
    const head = { id, hasKnownId: true, exchangeId: this.#exchangeId, timestamp: readRecordTime(record) }
    const answer = createOpenAnswer({ ...head, isVerified: this.#isVerified })
    applyRecord(answer, record)
    const events = answer.events.filter((event) => event.type === "tool_result")
    return {
      kind: "late",
      id,
      events,
      at: readEventTime(record),
      lost: countLateRecord(record),
    }
  }

  #createId(): string {
    return `imported-${this.#recordNumber}`
  }

  #isIdTaken(id: string): boolean {
    return id === this.#question?.message.id || this.#closedIds.has(id)
  }
}

function isTurnStart(record: StreamRecord): record is TurnStartRecord {
  return record.type === "user_message" || record.type === "agent_message" || record.type === "agent_callback"
}

/**
 * Counts the content that is dropped with a record that arrives after the end of its answer. Whole texts aren't
 * counted, because they mostly repeat the streamed text.
 */
function countLateRecord(record: AnswerRecord): KindTotals {
  switch (record.type) {
    case "text_delta":
    case "thinking_delta":
      return record.delta === "" ? {} : { text: 1 }
    case "tool_output_delta":
      return record.delta === "" ? {} : { output: 1 }
    case "tool_call":
      return { call: 1 }
    default:
      return {}
  }
}
