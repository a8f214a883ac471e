/**
 * assembler.ts: records of any producer become messages.
 *
 * records, in reading order → ASSEMBLER → open answers → messages
 * Accepts turn records, stream events and mixtures of both (SPEC RE9). A record without `responseId` belongs to the
 * open answer of the turn that the last question began. Events for a message that is already closed are returned
 * separately, so a transcript of any length needs the memory of one turn. Pure.
 */

import type { TurnEvent } from "../protocol/event.ts"
import { MAX_IMPORTED_PENDING_CALLS } from "../limits.ts"
import { createMessage, type Message } from "../protocol/message.ts"
import type { StreamRecord } from "../protocol/record.ts"
import { type AssembledMessage, assembleAnswer, createAgentTag, readPlacement } from "./assemble-answer.ts"
import { createResultEvent } from "./call-events.ts"
import {
  type AnswerRecord,
  applyRecord,
  createOpenAnswer,
  type OpenAnswer,
  type TurnStartRecord,
} from "./open-answer.ts"
import { type DeferredCall, listPendingCalls, type PendingCall, toPendingCall } from "./pending-calls.ts"
import { toPublicCallId, toPublicId } from "./public-id.ts"
import { readAttachments } from "./record-trust.ts"

export type { AssembledMessage }

/** Events for a message that was already closed. */
export interface LateEvents {
  readonly kind: "late"
  readonly id: string
  readonly events: readonly TurnEvent[]
  /** Number of visible records that were dropped: only a result may arrive after the end. */
  readonly lost: number
}

/** The ids of the messages that are closed. */
export interface ClosedIds {
  has(id: string): boolean
  add(id: string): void
}

export interface Assembler {
  /**
   * Adds record number `n` of the file. Returns the turns that it closes, each question first. A message without an id
   * is named after the record that opened it.
   */
  addRecord(record: StreamRecord, n: number): readonly (AssembledMessage | LateEvents)[]
  /** Ends the file and closes the last turn. */
  end(): readonly (AssembledMessage | LateEvents)[]
}

/**
 * Shapes  records → messages, in the order in which they were closed. Ids of other systems are made valid.
 *         Assets and grants count only in a verified file; of another file they are dropped.
 * Cost    linear; the memory of one turn. `closedIds` is asked once per message and once per late record.
 * Source  SPEC RE9, RE12.
 */
export function createAssembler(
  closedIds: ClosedIds = new Set<string>(),
  deferredCalls: readonly DeferredCall[] = [],
  isVerified = true,
): Assembler {
  return new TurnAssembler(closedIds, deferredCalls.map(toPendingCall), isVerified)
}

class TurnAssembler implements Assembler {
  readonly #closedIds: ClosedIds
  readonly #isVerified: boolean
  /** Calls of closed answers whose final result has not arrived. */
  readonly #pendingCalls: PendingCall[]
  /** Answers of the current turn, by the ids that their records name. */
  readonly #openAnswers = new Map<string, OpenAnswer>()
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
    if (isTurnStart(record)) return this.#beginTurn(record)
    if (record.type === "signature" || record.type === "asset") return []
    const id = toPublicId(record.responseId)
    // A record that names the question or its turn belongs to the answer to it.
    const isCurrent = id === null || id === this.#exchangeId || this.#openAnswers.has(id) || !this.#closedIds.has(id)
    if (!isCurrent) return [this.#toLateEvents(id, record)]
    applyRecord(this.#findOrOpenAnswer(record), record)
    return []
  }

  end(): readonly AssembledMessage[] {
    return this.#closeTurn()
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
    this.#question = null
    return finished
  }

  #beginTurn(record: TurnStartRecord): (AssembledMessage | LateEvents)[] {
    const finished = this.#closeTurn()
    const id = this.#chooseQuestionId(record, finished)
    this.#exchangeId = toPublicId(record.turnId) ?? id
    const message = createQuestion(record, id, this.#exchangeId, this.#isVerified)
    const attachments = record.type === "user_message" ? (record.attachments ?? []) : []
    const lost = attachments.length - message.attachments.length
    this.#question = { kind: "message", message, lost, ...readPlacement(record) }
    return [...finished, ...this.#resolveCallback(record)]
  }

  /** The id that the record names, unless it is taken: two questions of one turn are two messages. */
  #chooseQuestionId(record: TurnStartRecord, finished: readonly AssembledMessage[]): string {
    const givenId = toPublicId(record.responseId ?? record.turnId)
    const isFree =
      givenId !== null && !finished.some(({ message }) => message.id === givenId) && !this.#closedIds.has(givenId)
    return isFree ? givenId : this.#createId()
  }

  /** Fills in the result of the call that a callback answers. */
  #resolveCallback(record: TurnStartRecord): LateEvents[] {
    if (record.type !== "agent_callback") return []
    const index = this.#pendingCalls.findIndex((call) => isCallbackFor(call, record))
    return this.#pendingCalls.splice(index, index < 0 ? 0 : 1).map(({ id, call_id }) => {
      return { kind: "late", id, events: [createResultEvent(call_id, "ok", record.text, null, null)], lost: 0 }
    })
  }

  #findOrOpenAnswer(record: AnswerRecord): OpenAnswer {
    const givenId = toPublicId(record.responseId)
    const id = givenId ?? [...this.#openAnswers.keys()].at(-1) ?? this.#createId()
    return this.#openAnswers.get(id) ?? this.#nameAnswer(id) ?? this.#openAnswer(id, givenId !== null, record)
  }

  /** An answer that began without an id gets the first id that a record names. */
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
    const timestamp = readTimestamp(record)
    const answer = createOpenAnswer({ id, hasKnownId, exchangeId, timestamp, isVerified: this.#isVerified })
    this.#openAnswers.set(key, answer)
    return answer
  }

  #toLateEvents(id: string, record: AnswerRecord): LateEvents {
    const head = { id, hasKnownId: true, exchangeId: this.#exchangeId, timestamp: readTimestamp(record) }
    const answer = createOpenAnswer({ ...head, isVerified: this.#isVerified })
    applyRecord(answer, record)
    const events = answer.events.filter((event) => event.type === "tool_result")
    return { kind: "late", id, events, lost: isVisibleRecord(record) && events.length === 0 ? 1 : 0 }
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

function createQuestion(record: TurnStartRecord, id: string, exchangeId: string, isVerified: boolean): Message {
  return createMessage({
    id,
    role: record.type === "user_message" ? "user" : "agent",
    exchange_id: exchangeId,
    status: "completed",
    words: record.text,
    timestamp: readTimestamp(record),
    version: record.version ?? 1,
    ...(record.type === "user_message"
      ? { ...readAttachments(record, isVerified), reply_to: toPublicId(record.replyTo) }
      : buildSenderFields(record, id)),
  })
}

function buildSenderFields(record: Exclude<TurnStartRecord, { type: "user_message" }>, id: string): Partial<Message> {
  const { from = "agent", agentExchangeId, origin = null } = record
  const tag = createAgentTag("received", from, agentExchangeId, id)
  if (record.type === "agent_message") return { agent: tag, origin }
  return { agent: { ...tag, call_id: toPublicCallId(record.callId ?? id) }, origin }
}

function isCallbackFor(
  { call_id, responseId }: PendingCall,
  record: Extract<TurnStartRecord, { type: "agent_callback" }>,
): boolean {
  if (record.callId !== undefined) return toPublicCallId(record.callId) === call_id
  return responseId !== null && (responseId === record.responseId || responseId === record.agentExchangeId)
}

/** Whether a record shows something to the user. */
function isVisibleRecord({ type }: StreamRecord): boolean {
  return type === "text_delta" || type === "thinking_delta" || type === "tool_call"
}

/** The importer has already converted timestamps to ISO 8601. */
function readTimestamp({ timestamp }: StreamRecord): string {
  return timestamp ?? "1970-01-01T00:00:00.000Z"
}
