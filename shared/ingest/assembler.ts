/**
 * assembler.ts: records of any producer become messages.
 *
 * records, in reading order → ASSEMBLE → events → intake (clean) → fold → messages
 * Takes turn records, stream events and mixes of both. A record without `responseId` belongs to the answer that stands
 * open in the turn of the last question. What comes for a message that is closed already is told apart, so that a
 * transcript of any length needs the memory of one turn.
 * Pure.
 */

import {
  type PendingCall,
  listPendingCalls,
  toPendingCall,
  isQueuedResult,
  type DeferredCall,
} from "./pending-calls.ts"
import { createAnswerBudget, truncateText } from "./answer-budget.ts"
import type { AgentTag, TurnEvent } from "../protocol/event.ts"
import { findTrailerTag } from "../protocol/card-cue.ts"
import { createIntake } from "./intake.ts"
import {
  MAX_ARGS_CHARS,
  MAX_ERROR_CHARS,
  MAX_ID_CHARS,
  MAX_IMPORTED_PENDING_CALLS,
  MAX_RESULT_BYTES,
  MAX_SUMMARY_CHARS,
  MAX_TOOL_NAME_CHARS,
} from "../limits.ts"
import {
  listCalls,
  fold,
  type Grants,
  isDeferred,
  isSettled,
  type Message,
  createMessage,
  createTooLargeResult,
} from "../protocol/message.ts"
import type { StreamRecord } from "../protocol/record.ts"
import { countUtf8Bytes } from "../truncate.ts"
import { readAttachments, withGrants } from "./record-trust.ts"

/** A message, whole; and where its file says that it stood, if it does. */
export interface AssembledMessage {
  readonly kind: "message"
  readonly message: Message
  readonly pos: number | null
  /** Undefined: the file does not say. */
  readonly parent: number | null | undefined
  readonly tip: number | null
  /** Results of it that changed nothing: the first for a call counts. */
  readonly lost: number
}

/** Something that came for a message after it was closed. */
export interface LateEvents {
  readonly kind: "late"
  readonly id: string
  readonly events: readonly TurnEvent[]
  /** What else it said, of which nothing is shown: nothing but a result arrives after the end. */
  readonly lost: number
}

/** The messages that are closed, by their ids. */
export interface ClosedIds {
  has(id: string): boolean
  add(id: string): void
}

export interface Assembler {
  /**
   * What this record, the `n`-th of its file, closes: whole turns, the question first. A message without an id is named
   * by the record that opened it.
   */
  addRecord(record: StreamRecord, n: number): readonly (AssembledMessage | LateEvents)[]
  /** The file is over. */
  end(): readonly (AssembledMessage | LateEvents)[]
}

type AnswerEvent =
  | TurnEvent
  | { readonly type: "unstreamed"; readonly text: string }
  /** Of the text part that ended last. */
  | { readonly type: "granted"; readonly grants: Grants }

interface OpenAnswer {
  readonly id: string
  /** A record told its id; until then what comes with an id goes on with it. */
  readonly hasKnownId: boolean
  readonly exchangeId: string
  readonly timestamp: string
  /** Events, and texts that count only if nothing streams. */
  readonly events: AnswerEvent[]
  /** What it says of files, and of what its directives may name, counts. */
  readonly isVerified: boolean
  step: number
  /** It names the channels of its calls, as we do. */
  isOwnFormat: boolean
  isStreamed: boolean
  /** Something of the part that is open has come. */
  hasDelta: boolean
  endRecord: Extract<StreamRecord, { type: "assistant_message" }> | null
  isCancelled: boolean
}

/**
 * Shapes  records → messages, in the order in which they were closed; ids that are no ids of ours are made so.
 * Files, and what directives may name, are taken only from a file that is vouched for: of another they are dropped.
 * Cost    linear; the memory of one turn. `closed` is asked once for each message, and for what comes late.
 * Source  SPEC RE3–RE6; seed 001 §6.
 */
export function createAssembler(
  closedIds: ClosedIds = new Set<string>(),
  deferredCalls: readonly DeferredCall[] = [],
  isVerified = true,
): Assembler {
  /** Answers of the turn at hand, by the ids that their records name. */
  const openAnswers = new Map<string, OpenAnswer>()
  /** Calls of closed answers whose true result is still to come. */
  const pendingCalls: PendingCall[] = deferredCalls.map(toPendingCall)
  let question: AssembledMessage | null = null
  let exchangeId = ""
  let recordNumber = 0
  const createId = (): string => `imported-${recordNumber}`
  const isIdTaken = (id: string): boolean => id === question?.message.id || closedIds.has(id)

  const closeTurn = (): AssembledMessage[] => {
    const finished = [...(question === null ? [] : [question]), ...[...openAnswers.values()].map(assembleAnswer)]
    for (const { message } of finished) {
      pendingCalls.push(...listPendingCalls(message))
      closedIds.add(message.id)
    }
    pendingCalls.splice(0, pendingCalls.length - MAX_IMPORTED_PENDING_CALLS)
    openAnswers.clear()
    question = null
    return finished
  }
  /** The call that a callback answers is filled in where it stands. */
  const resolveCallback = (record: TurnStartRecord): LateEvents[] => {
    const at = record.type === "agent_callback" ? pendingCalls.findIndex((one) => isCallbackFor(one, record)) : -1
    return pendingCalls.splice(at, at < 0 ? 0 : 1).map(({ id, call_id }) => {
      return { kind: "late", id, events: [createResultEvent(call_id, true, record.text, undefined, null)], lost: 0 }
    })
  }
  const beginTurn = (record: TurnStartRecord): (AssembledMessage | LateEvents)[] => {
    const finished = closeTurn()
    const givenId = toPublicId(record.responseId ?? record.turnId)
    // Two questions of one turn are two messages.
    const id =
      givenId === null || finished.some(({ message }) => message.id === givenId) || closedIds.has(givenId)
        ? createId()
        : givenId
    exchangeId = toPublicId(record.turnId) ?? id
    const message = createMessage({
      id,
      role: record.type === "user_message" ? "user" : "agent",
      exchange_id: exchangeId,
      status: "completed",
      words: record.text,
      timestamp: readTimestamp(record),
      version: record.version ?? 1,
      ...(record.type === "user_message" ? readAttachments(record, isVerified) : {}),
      ...(record.type === "user_message" ? { reply_to: toPublicId(record.replyTo) } : buildSenderFields(record, id)),
    })
    const files = record.type === "user_message" ? (record.attachments ?? []) : []
    question = { kind: "message", message, lost: files.length - message.attachments.length, ...readPlacement(record) }
    return [...finished, ...resolveCallback(record)]
  }
  const findOrOpenAnswer = (record: StreamRecord): OpenAnswer => {
    const givenId = toPublicId(record.responseId)
    const id = givenId ?? [...openAnswers.keys()].at(-1) ?? createId()
    const known = openAnswers.get(id)
    if (known !== undefined) return known
    // What came before without a name is the beginning of the first answer that has one.
    const [unnamed] = [...openAnswers.values()].filter((one) => !one.hasKnownId)
    if (unnamed !== undefined) {
      openAnswers.delete(unnamed.id)
      const renamed = { ...unnamed, id: isIdTaken(id) ? unnamed.id : id, hasKnownId: true }
      openAnswers.set(id, renamed)
      return renamed
    }
    const turn = toPublicId(record.turnId) ?? (exchangeId === "" ? id : exchangeId)
    const created = {
      ...createOpenAnswer(isIdTaken(id) ? createId() : id, turn, record, isVerified),
      hasKnownId: givenId !== null,
    }
    openAnswers.set(id, created)
    return created
  }
  return {
    addRecord(record, n) {
      recordNumber = n
      if (isTurnStart(record)) return beginTurn(record)
      if (record.type === "signature" || record.type === "asset") return []
      const id = toPublicId(record.responseId)
      // What names its question, or their turn, is an answer to it.
      if (id === null || id === exchangeId || openAnswers.has(id) || !closedIds.has(id)) {
        applyRecord(findOrOpenAnswer(record), record)
        return []
      }
      const late = createOpenAnswer(id, exchangeId, record, isVerified)
      applyRecord(late, record)
      const events = late.events.filter((event) => event.type === "tool_result")
      return [{ kind: "late", id, events, lost: isVisibleRecord(record) && events.length === 0 ? 1 : 0 }]
    },
    end: closeTurn,
  }
}

/** Records that begin a turn. */
type TurnStartRecord = Extract<StreamRecord, { type: "user_message" | "agent_message" | "agent_callback" }>

function isTurnStart(record: StreamRecord): record is TurnStartRecord {
  return record.type === "user_message" || record.type === "agent_message" || record.type === "agent_callback"
}

function buildSenderFields(record: Exclude<TurnStartRecord, { type: "user_message" }>, id: string): Partial<Message> {
  const { from = "agent", agentExchangeId, origin = null } = record
  const tag = createAgentTag("received", from, agentExchangeId, id)
  if (record.type === "agent_message") return { agent: tag, origin }
  return { agent: { ...tag, call_id: toPublicCallId(record.callId ?? id) }, origin }
}

function createAgentTag(
  direction: AgentTag["direction"],
  name: string,
  exchange: string | undefined,
  id: string,
): AgentTag {
  return { direction, name: toPublicId(name) ?? "agent", exchange: toPublicId(exchange) ?? id }
}

function isCallbackFor(
  { call_id, responseId: response }: PendingCall,
  record: Extract<TurnStartRecord, { type: "agent_callback" }>,
): boolean {
  const { callId, responseId, agentExchangeId } = record
  if (callId !== undefined) return toPublicCallId(callId) === call_id
  return response !== null && (response === responseId || response === agentExchangeId)
}

/** Whether a record says anything that a reader would see. */
function isVisibleRecord({ type }: StreamRecord): boolean {
  return type === "text_delta" || type === "thinking_delta" || type === "tool_call"
}

function createOpenAnswer(id: string, exchange: string, record: StreamRecord, isVerified: boolean): OpenAnswer {
  return {
    isVerified,
    id,
    exchangeId: exchange,
    timestamp: readTimestamp(record),
    events: [],
    step: 0,
    hasKnownId: true,
    isOwnFormat: false,
    isStreamed: false,
    hasDelta: false,
    endRecord: null,
    isCancelled: false,
  }
}

/** Takes one record into the answer that it belongs to. */
function applyRecord(
  answer: OpenAnswer,
  record: Exclude<StreamRecord, TurnStartRecord | { type: "signature" | "asset" }>,
): void {
  const emit = (event: OpenAnswer["events"][number]): void => void answer.events.push(event)
  for (; answer.step < (record.step ?? 0); answer.step++) emit({ type: "step_start" })
  switch (record.type) {
    case "text_delta":
    case "thinking_delta":
      answer.isStreamed ||= record.type === "text_delta"
      answer.hasDelta = true
      return emit({ type: record.type, delta: record.delta })
    case "thinking_start":
      answer.hasDelta = false
      return emit({ type: "thinking_done" })
    case "text_done":
      if (!answer.hasDelta && record.text !== undefined) {
        answer.isStreamed = true
        emit({ type: "text_delta", delta: record.text })
      }
      answer.hasDelta = false
      if (record.grants !== undefined && answer.isVerified) emit({ type: "granted", grants: record.grants })
      // A part that was cut is left open: the end of its message cuts it.
      return record.cut === true ? undefined : emit({ type: "text_done" })
    case "thinking_done": {
      if (!answer.hasDelta && record.text !== undefined) emit({ type: "thinking_delta", delta: record.text })
      answer.hasDelta = false
      return emit({ type: "thinking_done", ...(record.ms === undefined ? {} : { ms: record.ms }) })
    }
    case "assistant_message":
      answer.endRecord = record
      return emit({ type: "unstreamed", text: record.text })
    case "output_cancelled":
      answer.isCancelled = true
      return undefined
    case "tool_call":
    case "tool_call_start":
    case "tool_approval":
    case "tool_output_delta":
    case "tool_result":
      answer.hasDelta = false
      if (record.type === "tool_call_start" && record.channel !== undefined) answer.isOwnFormat = true
      return applyCallRecord(emit, record, answer)
  }
}

type CallRecord = Extract<StreamRecord, { type: `tool_${string}` }>

/** A record of another system names no channel; its results may ask for a card in their trailers, as seed 000's do. */
function applyCallRecord(
  say: (event: TurnEvent) => void,
  record: CallRecord,
  { isOwnFormat: isOurs, isVerified: isVouched }: OpenAnswer,
): void {
  const call_id = toPublicCallId(record.callId)
  switch (record.type) {
    case "tool_call":
      return say(createCallEvent(call_id, record.toolName, record.arguments))
    case "tool_call_start": {
      const { toolName, channel = "user", ordinal = null, ephemeral = false } = record
      // Where a call is only told by its start; a second one of the same id changes nothing.
      if (toolName !== undefined) say(createCallEvent(call_id, toolName, record.arguments))
      return say({ type: "tool_call_start", call_id, channel, ordinal, ephemeral })
    }
    case "tool_approval":
      return say({ type: "tool_approval", call_id, approval: record.approval })
    case "tool_output_delta":
      return say({ type: "tool_output_delta", call_id, delta: record.delta })
    case "tool_result": {
      const { ok, result, error, outputSize, toolName = "" } = record
      const card = record.card ?? (!isOurs && typeof result === "string" ? findTrailerTag(toolName, result) : null)
      const isWaiting = record.waiting === true || isQueuedResult(result)
      const event = createResultEvent(call_id, isWaiting ? "waiting" : ok, result, error, card)
      const media = isVouched ? (record.media ?? []) : []
      const size = outputSize === undefined ? {} : { output_size: outputSize }
      return say({ ...event, ...size, ...(media.length === 0 ? {} : { media }) })
    }
  }
}

function createCallEvent(call_id: string, toolName: string, argsText = "{}"): TurnEvent {
  const [name, args] = [truncateText(toolName, MAX_TOOL_NAME_CHARS), truncateText(argsText, MAX_ARGS_CHARS)]
  return { type: "tool_call", call_id, name, args }
}

function createResultEvent(
  call_id: string,
  ok: boolean | "waiting",
  result: unknown,
  error: { readonly code: string; readonly message: string } | undefined,
  card: string | null,
): Extract<TurnEvent, { type: "tool_result" }> {
  const status = ok === "waiting" ? ok : ok ? "ok" : error?.code === "tool_interrupted" ? "interrupted" : "failed"
  const text = result === undefined ? null : typeof result === "string" ? result : JSON.stringify(result)
  if (text !== null && countUtf8Bytes(text) > MAX_RESULT_BYTES) return createTooLargeResult(call_id)
  const told =
    error === undefined
      ? null
      : { code: truncateText(error.code, 64), message: truncateText(error.message, MAX_ERROR_CHARS) }
  return { type: "tool_result", call_id, status, result: text, card, error: told }
}

/** The message that an answer's records come to. */
function assembleAnswer(answer: OpenAnswer): AssembledMessage {
  const { endRecord, isStreamed, isCancelled } = answer
  const { id, exchangeId: exchange_id, timestamp } = answer
  const summary =
    endRecord?.summary === undefined
      ? null
      : { ...endRecord.summary, text: truncateText(endRecord.summary.text, MAX_SUMMARY_CHARS) }
  const origin = endRecord?.origin ?? null
  const head = {
    id,
    role: "assistant",
    exchange_id,
    timestamp,
    version: endRecord?.version ?? 1,
    summary,
    origin,
  } as const
  const intake = createIntake()
  const agent = endRecord?.to === undefined ? null : createAgentTag("sent", endRecord.to, endRecord.agentExchangeId, id)
  let message: Message = createMessage({
    ...head,
    mode: endRecord?.mode ?? "chat",
    agent,
    reply_to: toPublicId(endRecord?.replyTo),
  })
  let lost = 0
  const isWithinBudget = createAnswerBudget()
  for (const event of answer.events) {
    if (event.type === "unstreamed" && (isStreamed || event.text === "")) continue
    if (event.type === "granted") {
      message = withGrants(message, event.grants)
      continue
    }
    const raw: TurnEvent = event.type === "unstreamed" ? { type: "text_delta", delta: event.text } : event
    if (!isWithinBudget(message, raw)) {
      lost += 1
      continue
    }
    for (const clean of intake.cleanEvent(raw)) {
      const next = fold(message, clean)
      if (clean.type === "tool_result" && next === message) lost += 1
      message = next
    }
  }
  const { status, reason } = resolveEnd(message, endRecord, isCancelled)
  for (const clean of intake.cleanEvent({ type: "end", status, reason, metrics: endRecord?.metrics ?? null }))
    message = fold(message, clean)
  return { kind: "message", message, lost, ...readPlacement(endRecord ?? {}) }
}

interface RecordPlacement {
  readonly pos?: number | undefined
  readonly parent?: number | null | undefined
  readonly tip?: number | undefined
}

function readPlacement({ pos, parent, tip }: RecordPlacement): Omit<AssembledMessage, "kind" | "message" | "lost"> {
  return { pos: pos ?? null, parent, tip: tip ?? null }
}

type EndStatus = "completed" | "cancelled" | "interrupted" | "failed"

/** How it ended, where it is told; else from what is there: calls that never came back tell of an end from outside. */
function resolveEnd(
  message: Message,
  last: OpenAnswer["endRecord"],
  isCancelled: boolean,
): { status: EndStatus; reason: string | null } {
  const status = last?.status
  if (status === "running" || status === "waiting") return { status: "interrupted", reason: "process_restart" }
  if (status !== undefined) return { status, reason: last?.reason ?? null }
  if (isCancelled) return { status: "cancelled", reason: null }
  const isComplete = listCalls(message).every((call) => isSettled(call.status) || isDeferred(call))
  return isComplete ? { status: "completed", reason: null } : { status: "interrupted", reason: null }
}

/** Ids of other producers may hold anything: what is no id of ours is kept as far as it can be one. */
export function toPublicId(text: string | undefined): string | null {
  const id = (text ?? "").replace(/[^A-Za-z0-9_-]/g, "-").slice(0, MAX_ID_CHARS)
  return id === "" ? null : id
}

function toPublicCallId(text: string): string {
  return toPublicId(text) ?? "call"
}

/** Who reads the file has made it ISO 8601, as ours is. */
function readTimestamp({ timestamp }: StreamRecord): string {
  return timestamp ?? "1970-01-01T00:00:00.000Z"
}
