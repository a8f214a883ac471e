/**
 * open-answer.ts: collects the records of one imported answer as raw events until the answer ends.
 *
 * records → OPEN ANSWER → raw events → assemble-answer
 * A later record may complete an earlier one (arguments, lost deltas), and a whole text adds only what was not
 * streamed. Both are known only at the end of the answer, so events are collected and are folded only when the answer
 * ends. Pure.
 */

import type { TurnEvent } from "../../protocol/event.ts"
import { MAX_IMPORTED_CALLS } from "../../limits.ts"
import { fillCall, UNNAMED_TOOL } from "../../protocol/calls/call-args.ts"
import type { Grants } from "../../protocol/message.ts"
import type { StreamRecord } from "../../protocol/record.ts"
import {
  createCallEvent,
  createResultEvent,
  findForeignCard,
  getResultStatus,
  readCallArguments,
} from "../call-events.ts"
import { isQueuedResult, listQuestionIds } from "./pending-calls.ts"
import { readReportedSize } from "../history/reported-size.ts"
import { toPublicCallId } from "../public-id.ts"
import { readEventTime } from "./record-time.ts"
import { fillGaps, StreamedText, type TextKind } from "../whole-text.ts"

/** Records that begin a turn. */
export type TurnStartRecord = Extract<StreamRecord, { type: "user_message" | "agent_message" | "agent_callback" }>

export type AnswerRecord = Exclude<StreamRecord, TurnStartRecord | { type: "signature" | "asset" }>

export type AnswerEvent =
  | TurnEvent
  /** Marks the position for the text of the record that ends the answer, in case no text was streamed. */
  | { readonly type: "unstreamed" }
  /** The grants of the text part that ended last. */
  | { readonly type: "granted"; readonly grants: Grants }

export type EndRecord = Extract<StreamRecord, { type: "assistant_message" }>

/** Maximum number of question ids that are remembered for an answer: each kept call names up to three. */
const MAX_OPEN_QUESTIONS = 3 * MAX_IMPORTED_CALLS

export interface OpenAnswer {
  readonly id: string
  /** Whether a record has named the id. Until then, the next record with an id continues this answer. */
  readonly hasKnownId: boolean
  readonly exchangeId: string
  readonly timestamp: string
  readonly events: AnswerEvent[]
  /** For each event, the time of its record, in ISO 8601. */
  readonly times: (string | undefined)[]
  /** The index in `events` of each call's first event and, in `resultPlaces`, of its result. */
  readonly callPlaces: Map<string, number>
  readonly resultPlaces: Map<string, number>
  readonly startedCalls: Set<string>
  /**
   * Calls in turn records whose results cue a card. Turn records have no start event, and only a call started for the
   * user can cue a card, so a start is added for these calls.
   */
  readonly unstartedCards: Set<string>
  /**
   * The calls whose final results arrive with callbacks, by the ids of their questions. Contains at most
   * MAX_OPEN_QUESTIONS ids.
   */
  readonly callsByQuestion: Map<string, string>
  readonly waitingCalls: Set<string>
  readonly streamed: StreamedText
  /** Whether the file is verified. Assets and grants from other files are dropped. */
  readonly isVerified: boolean
  /** The number of whole texts that are longer than the streamed text and do not match it. */
  lostTexts: number
  step: number
  /** Whether the records name the channels of their calls, as Cuecard's exports do. */
  isOwnFormat: boolean
  endRecord: EndRecord | null
  isCancelled: boolean
  /** Whether the answer may be complete: its latest record is a `text_done`, or its end was reported. */
  isAtEnd: boolean
}

export function createOpenAnswer(
  head: Pick<OpenAnswer, "id" | "hasKnownId" | "exchangeId" | "timestamp" | "isVerified">,
): OpenAnswer {
  return {
    ...head,
    events: [],
    times: [],
    callPlaces: new Map(),
    resultPlaces: new Map(),
    startedCalls: new Set(),
    unstartedCards: new Set(),
    callsByQuestion: new Map(),
    waitingCalls: new Set(),
    streamed: new StreamedText(),
    lostTexts: 0,
    step: 0,
    isOwnFormat: false,
    endRecord: null,
    isCancelled: false,
    isAtEnd: false,
  }
}

/** Adds one of the answer's records. */
export function applyRecord(answer: OpenAnswer, record: AnswerRecord): void {
  addRecordEvents(answer, record)
  const { events, times } = answer
  const at = readEventTime(record)
  while (times.length < events.length) times.push(at)
}

function addRecordEvents(answer: OpenAnswer, record: AnswerRecord): void {
  for (; answer.step < (record.step ?? 0); answer.step++) addEvent(answer, { type: "step_start" })
  answer.isAtEnd = record.type === "text_done" || answer.endRecord !== null || answer.isCancelled
  switch (record.type) {
    case "text_delta":
    case "thinking_delta":
      return addEvent(answer, { type: record.type, delta: record.delta })
    case "thinking_start":
      return addEvent(answer, { type: "thinking_done" })
    case "text_done":
      return applyTextDone(answer, record)
    case "thinking_done":
      completeText(answer, "thinking", record.text)
      return addEvent(answer, { type: "thinking_done", ...(record.ms === undefined ? {} : { ms: record.ms }) })
    case "assistant_message":
      return applyEndRecord(answer, record)
    case "output_cancelled":
      answer.isAtEnd = answer.isCancelled = true
      return
    case "tool_call":
      return applyCall(answer, record)
    case "tool_call_start":
      return applyCallStart(answer, record)
    case "tool_approval":
      return addEvent(answer, {
        type: "tool_approval",
        call_id: toPublicCallId(record.callId),
        approval: record.approval,
      })
    case "tool_output_delta":
      return addEvent(answer, {
        type: "tool_output_delta",
        call_id: toPublicCallId(record.callId),
        delta: record.delta,
      })
    case "tool_result":
      return applyResult(answer, record)
  }
}

function addEvent({ events, streamed }: OpenAnswer, event: TurnEvent): void {
  events.push(event)
  streamed.addEvent(event)
}

function isTurnEvent(event: AnswerEvent): event is TurnEvent {
  return event.type !== "unstreamed" && event.type !== "granted"
}

function applyTextDone(answer: OpenAnswer, record: Extract<StreamRecord, { type: "text_done" }>): void {
  completeText(answer, "text", record.text)
  if (record.grants !== undefined && answer.isVerified) answer.events.push({ type: "granted", grants: record.grants })
  // An interrupted part stays open until its message ends.
  if (record.cut !== true) addEvent(answer, { type: "text_done" })
}

/** Adds the part of a whole text that was not streamed (SPEC IR3). */
function completeText(answer: OpenAnswer, kind: TextKind, whole: string | undefined): void {
  if (whole === undefined || whole === "") return
  const rest = findMissingText(answer, kind, whole, false)
  if (rest !== "") addEvent(answer, { type: `${kind}_delta`, delta: rest })
}

/**
 * Completes the streamed text and thinking from the record that ends the answer (SPEC IR3, IR12). Missing thinking is
 * appended to the last thinking, because text may have followed it; missing text is appended at the end.
 */
export function completeFromEnd(answer: OpenAnswer): void {
  const { events, times, streamed, endRecord } = answer
  for (const kind of ["thinking", "text"] as const) {
    const whole = (kind === "text" ? endRecord?.text : endRecord?.thinkingText) ?? ""
    const rest = whole !== "" && streamed.hasText(kind) ? findMissingText(answer, kind, whole, true) : ""
    const at = kind === "text" ? -1 : events.findLastIndex(({ type }) => type === "thinking_delta")
    const last = events[at]
    if (last?.type === "thinking_delta") events[at] = { ...last, delta: last.delta + rest }
    else if (rest !== "") addEvent(answer, { type: `${kind}_delta`, delta: rest })
  }
  while (times.length < events.length) times.push(times.at(-1))
}

/**
 * Returns what a whole text adds at the end of the answer, after filling in lost text. A whole text that does not match
 * counts as another version of the open part or, at the end of the answer, of the last part; if it is longer than that
 * part, it counts as lost.
 */
function findMissingText(answer: OpenAnswer, kind: TextKind, whole: string, isEnd: boolean): string {
  const { streamed } = answer
  const restOfPart = streamed.findRestOfPart(kind, whole)
  const known = streamed.findRestOfResponse(kind, whole) ?? (restOfPart === "" ? "" : null)
  if (known !== null) return known
  const canFill = streamed.canFillGaps(kind)
  const filled = canFill ? fillStreamedText(answer, kind, whole) : null
  if (filled !== null) return filled
  if (!isEnd && !streamed.isOpen(kind)) return whole
  if (restOfPart !== null) return restOfPart
  const isReplaced = canFill && replaceLastPart(answer, kind, whole)
  if (!isReplaced && whole.trim().length > streamed.readLastPart(kind).trim().length) answer.lostTexts += 1
  return ""
}

/**
 * Replaces the last part with its whole text if the part's deltas occur in that text in the same order. Returns whether
 * it was replaced.
 */
function replaceLastPart({ events, streamed }: OpenAnswer, kind: TextKind, whole: string): boolean {
  const text = streamed.findTextOfLastPart(kind, whole)
  if (text === null) return false
  const deltas: { readonly at: number; readonly delta: string }[] = []
  let unitsLeft = streamed.readLastPart(kind).length
  for (let at = events.length - 1; at >= 0 && unitsLeft > 0; at -= 1) {
    const event = events[at]
    if (event?.type !== `${kind}_delta` || !("delta" in event)) continue
    deltas.push({ at, delta: event.delta.trim() })
    unitsLeft -= event.delta.length
  }
  deltas.reverse()
  let from = 0
  for (const { delta } of deltas) {
    const found = text.indexOf(delta, from)
    if (found < 0) return false
    from = found + delta.length
  }
  for (const [i, { at }] of deltas.entries()) events[at] = { type: `${kind}_delta`, delta: i === 0 ? text : "" }
  streamed.restart(events.filter(isTurnEvent))
  return true
}

/**
 * Fills in text that was lost between deltas. Returns the text after the last delta; null if the deltas do not match
 * the whole text.
 */
function fillStreamedText({ events, streamed }: OpenAnswer, kind: TextKind, whole: string): string | null {
  const places: number[] = []
  const deltas: string[] = []
  for (const [at, event] of events.entries()) {
    if (event.type !== `${kind}_delta` || !("delta" in event)) continue
    places.push(at)
    deltas.push(event.delta)
  }
  const filled = fillGaps(deltas, whole)
  if (filled === null) return null
  for (const [i, at] of places.entries()) events[at] = { type: `${kind}_delta`, delta: filled.deltas[i] ?? "" }
  streamed.restart(events.filter(isTurnEvent))
  return filled.rest
}

/** Stores the record that ends the answer. A second such record adds the fields that the first one lacks. */
function applyEndRecord(answer: OpenAnswer, record: EndRecord): void {
  if (answer.endRecord === null) answer.events.push({ type: "unstreamed" })
  const { text, thinkingText } = answer.endRecord ?? {}
  const texts = { text: record.text || text, thinkingText: record.thinkingText || thinkingText }
  answer.endRecord = { ...answer.endRecord, ...record, ...texts }
  answer.isAtEnd = true
}

function applyCall(answer: OpenAnswer, record: Extract<StreamRecord, { type: "tool_call" | "tool_call_start" }>): void {
  const call_id = toPublicCallId(record.callId)
  const event = createCallEvent(call_id, record.toolName || UNNAMED_TOOL, readCallArguments(record))
  const at = answer.callPlaces.get(call_id)
  const known = at === undefined ? undefined : answer.events[at]
  if (at !== undefined && known?.type === "tool_call") {
    answer.events[at] = fillCall(known, event)
    return
  }
  answer.callPlaces.set(call_id, answer.events.length)
  addEvent(answer, event)
}

function applyCallStart(answer: OpenAnswer, record: Extract<StreamRecord, { type: "tool_call_start" }>): void {
  const { channel, ordinal = null, ephemeral = false } = record
  if (channel !== undefined) answer.isOwnFormat = true
  const call_id = toPublicCallId(record.callId)
  // Some files contain only the start of a call.
  if (record.toolName !== undefined || answer.callPlaces.has(call_id)) applyCall(answer, record)
  answer.startedCalls.add(call_id)
  addEvent(answer, { type: "tool_call_start", call_id, channel: channel ?? "user", ordinal, ephemeral })
}

/** Adds the result of a call. The first result counts, unless it is empty or provisional. */
function applyResult(answer: OpenAnswer, record: Extract<StreamRecord, { type: "tool_result" }>): void {
  const call_id = toPublicCallId(record.callId)
  if (!answer.callPlaces.has(call_id))
    applyCall(answer, { type: "tool_call", callId: record.callId, toolName: record.toolName ?? "" })
  const event = toResultEvent(call_id, record, answer)
  const at = answer.resultPlaces.get(call_id)
  const known = at === undefined ? undefined : answer.events[at]
  if (at !== undefined && known?.type === "tool_result" && isEmptyResult(known)) {
    answer.events[at] = event
    return
  }
  answer.resultPlaces.set(call_id, answer.events.length)
  if (event.status === "waiting") addQuestions(answer, call_id, listQuestionIds(record.result))
  addEvent(answer, event)
}

function addQuestions({ callsByQuestion, waitingCalls }: OpenAnswer, call_id: string, ids: readonly string[]): void {
  for (const id of ids) {
    if (callsByQuestion.size >= MAX_OPEN_QUESTIONS) return
    callsByQuestion.set(id, call_id)
    waitingCalls.add(call_id)
  }
}

/**
 * Adds the final result of the call that asked one of these questions. Returns the call's id; null if there is no such
 * call.
 */
export function fillOpenCall(answer: OpenAnswer, questionIds: readonly string[], result: string): string | null {
  const asked = questionIds.map((id) => answer.callsByQuestion.get(id)).find((call_id) => call_id !== undefined)
  const call_id = asked ?? questionIds.find((id) => answer.waitingCalls.has(id))
  if (call_id === undefined) return null
  addEvent(answer, createResultEvent(call_id, "ok", result, null, null))
  return call_id
}

export function isEmptyResult({ status, result, error }: Extract<TurnEvent, { type: "tool_result" }>): boolean {
  return status === "ok" && (result === null || result === "") && error === null
}

/**
 * Creates the event of a result. Records from other systems name no channel; their results can cue a card through a
 * trailer (SPEC IR9).
 */
function toResultEvent(
  call_id: string,
  record: Extract<StreamRecord, { type: "tool_result" }>,
  { isOwnFormat, isVerified, events, callPlaces, unstartedCards, startedCalls }: OpenAnswer,
): Extract<TurnEvent, { type: "tool_result" }> {
  const { ok, result, error, outputSize } = record
  const call = events[callPlaces.get(call_id) ?? -1]
  const name = record.toolName ?? (call?.type === "tool_call" ? call.name : "")
  const foreign = isOwnFormat || record.card !== undefined ? null : findForeignCard(name, result)
  if (foreign !== null && !startedCalls.has(call_id)) unstartedCards.add(call_id)
  const isWaiting = record.waiting === true || isQueuedResult(result)
  const status = isWaiting ? "waiting" : getResultStatus(ok, error)
  const media = isVerified ? (record.media ?? []) : []
  // Cuecard's own records state the size in a separate field.
  const size = outputSize ?? (isOwnFormat ? null : readReportedSize(result))
  return {
    ...createResultEvent(
      call_id,
      status,
      foreign?.result ?? result,
      error ?? null,
      record.card ?? foreign?.tag ?? null,
    ),
    ...(size == null ? {} : { output_size: size }),
    ...(media.length === 0 ? {} : { media }),
  }
}
