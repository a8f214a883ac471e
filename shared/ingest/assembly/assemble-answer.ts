/**
 * assemble-answer.ts: converts the collected events of one imported answer to a message.
 *
 * open answer → intake (clean) → fold → message
 * Pure.
 */

import type { AgentTag, TurnEvent } from "../../protocol/event.ts"
import { MAX_SUMMARY_CHARS } from "../../limits.ts"
import { createMessage, isDeferred, isSettled, listCalls, type Message } from "../../protocol/message.ts"
import { foldAt } from "../../protocol/part-times.ts"
import { toCanonicalJson } from "../../json.ts"
import { boundText } from "../call-events.ts"
import { createAnswerBudget } from "./answer-budget.ts"
import { createIntake } from "../intake.ts"
import { KindCounts, type KindTotals } from "../history/kind-counts.ts"
import { type AnswerEvent, completeFromEnd, type EndRecord, isEmptyResult, type OpenAnswer } from "./open-answer.ts"
import { readEventTime } from "./record-time.ts"
import { toPublicId } from "../public-id.ts"
import { withGrants } from "./record-trust.ts"

/** A complete message, with its position if the file contains it. */
export interface AssembledMessage {
  readonly kind: "message"
  readonly message: Message
  readonly pos: number | null
  /** Undefined if the file does not name a parent. */
  readonly parent: number | null | undefined
  readonly tip: number | null
  /**
   * Counts of dropped content, by kind: events that exceed the budget, whole texts that do not match the streamed text,
   * and results that differ from a call's first result.
   */
  readonly lost: KindTotals
}

interface RecordPlacement {
  readonly pos?: number | undefined
  readonly parent?: number | null | undefined
  readonly tip?: number | undefined
}

type EndStatus = "completed" | "cancelled" | "interrupted" | "failed"

export function readPlacement({ pos, parent, tip }: RecordPlacement): Pick<AssembledMessage, "pos" | "parent" | "tip"> {
  return { pos: pos ?? null, parent, tip: tip ?? null }
}

/** Creates the tag that names another agent as the sender or receiver of a message. */
export function createAgentTag(
  direction: AgentTag["direction"],
  name: string,
  exchange: string | undefined,
  id: string,
): AgentTag {
  return { direction, name: toPublicId(name) ?? "agent", exchange: toPublicId(exchange) ?? id }
}

/** Folds the events of an answer. Cost: linear in the number of events. */
export function assembleAnswer(answer: OpenAnswer): AssembledMessage {
  const { endRecord } = answer
  completeFromEnd(answer)
  const intake = createIntake()
  const { message: folded, lost } = foldEvents(createEmptyAnswer(answer), answer, intake.cleanEvent)
  const { status, reason } = resolveEnd(folded, endRecord, answer.isCancelled)
  const endEvents = intake.cleanEvent({ type: "end", status, reason, metrics: endRecord?.metrics ?? null })
  const endedAt = endRecord === null ? answer.times.at(-1) : readEventTime(endRecord)
  const message = endEvents.reduce((before, event) => foldAt(before, event, endedAt), folded)
  return { kind: "message", message, lost, ...readPlacement(endRecord ?? {}) }
}

function createEmptyAnswer({ endRecord, id, exchangeId, timestamp }: OpenAnswer): Message {
  const { summary, to, agentExchangeId, origin = null, version = 1, mode = "chat", replyTo, feedback } = endRecord ?? {}
  return createMessage({
    id,
    role: "assistant",
    exchange_id: exchangeId,
    // Cuecard's exports state when the answer began. In other files, the time of the first record is used.
    timestamp: endRecord?.started ?? timestamp,
    version,
    summary: summary === undefined ? null : { ...summary, text: boundText(summary.text, MAX_SUMMARY_CHARS) },
    origin,
    mode,
    agent: to === undefined ? null : createAgentTag("sent", to, agentExchangeId, id),
    reply_to: toPublicId(replyTo),
    ...(feedback === undefined ? {} : { feedback }),
  })
}

function foldEvents(
  empty: Message,
  answer: OpenAnswer,
  cleanEvent: (event: TurnEvent) => TurnEvent[],
): { readonly message: Message; readonly lost: KindTotals } {
  const findLoss = createAnswerBudget()
  const lost = new KindCounts()
  if (answer.lostTexts > 0) lost.addKnown("text", answer.lostTexts)
  let message = empty
  for (const { at, ...event } of joinDeltas(completeEvents(answer))) {
    if (event.type === "granted") {
      message = withGrants(message, event.grants)
      continue
    }
    const loss = findLoss(message, event)
    if (loss !== null) {
      if (loss !== "dropped_call") lost.addKnown(loss)
      continue
    }
    for (const clean of cleanEvent(event)) {
      const next = foldAt(message, clean, at)
      if (next === message) countUnused(lost, message, clean)
      message = next
    }
  }
  return { message, lost: lost.toTotals() }
}

/** Counts an event that changed nothing as lost, unless it repeats what is shown. */
function countUnused(lost: KindCounts, message: Message, event: TurnEvent): void {
  if (event.type === "tool_output_delta" && event.delta !== "") lost.addKnown("output")
  if (event.type !== "tool_result" || isEmptyResult(event)) return
  const { status, result, error } = event
  const call = listCalls(message).find(({ call_id }) => call_id === event.call_id)
  const isRepeated =
    call?.status === status && call.result === result && toCanonicalJson(call.error) === toCanonicalJson(error)
  if (!isRepeated) lost.addKnown("result")
}

/** An event and the time of its record. */
type FoldedEvent = (TurnEvent | Extract<AnswerEvent, { type: "granted" }>) & { readonly at?: string | undefined }

/**
 * Maximum size of joined text, in UTF-16 code units. Text beyond MAX_IMPORTED_TEXT_CHARS is dropped in pieces of this
 * size.
 */
const MAX_JOINED_TEXT_CHARS = 4_096

/**
 * Joins adjacent pieces of text, of thinking and of a call's output, because folding one long piece costs no more than
 * folding a short one. The joined event keeps the time of its first piece, because that is when the part begins.
 */
function joinDeltas(events: readonly FoldedEvent[]): FoldedEvent[] {
  const joined: FoldedEvent[] = []
  for (const event of events) {
    const last = joined.at(-1)
    const delta = last === undefined ? null : joinDelta(last, event)
    if (delta === null) joined.push(event)
    else joined[joined.length - 1] = delta
  }
  return joined
}

/** Returns both events as one; null if they can't be joined. */
function joinDelta(last: FoldedEvent, event: FoldedEvent): FoldedEvent | null {
  if (event.type === "tool_output_delta") {
    const isNext = last.type === event.type && last.call_id === event.call_id
    return isNext ? { ...last, delta: last.delta + event.delta } : null
  }
  if ((event.type !== "text_delta" && event.type !== "thinking_delta") || last.type !== event.type) return null
  const delta = last.delta + event.delta
  return delta.length > MAX_JOINED_TEXT_CHARS ? null : { ...last, delta }
}

/**
 * Adds the thinking and the text of the record that ends the answer, each only if none of its kind was streamed: the
 * thinking goes first, the text where the end was reported. A spoken answer without text gets a label (SPEC IR4).
 */
function completeEvents(answer: OpenAnswer): FoldedEvent[] {
  const { streamed, endRecord, times } = answer
  const { text = "", thinkingText = "" } = endRecord ?? {}
  const unstreamed = streamed.hasText("text") ? "" : text === "" ? describeRecording(endRecord) : text
  return [
    ...(streamed.hasText("thinking") ? [] : createTextEvents("thinking", thinkingText, times[0])),
    ...answer.events.flatMap((event, i): FoldedEvent[] => {
      const at = times[i]
      if (event.type === "unstreamed") return createTextEvents("text", unstreamed, at)
      if (event.type !== "tool_call" || !answer.unstartedCards.has(event.call_id)) return [{ ...event, at }]
      return [
        { ...event, at },
        { type: "tool_call_start", call_id: event.call_id, channel: "user", ordinal: null, at },
      ]
    }),
  ]
}

function createTextEvents(kind: "text" | "thinking", delta: string, at: string | undefined): FoldedEvent[] {
  return delta === "" ? [] : [{ type: `${kind}_delta`, delta, at }]
}

function describeRecording(endRecord: EndRecord | null): string {
  const { modality, audioItemId, audioTruncatedAtMs } = endRecord ?? {}
  if (modality !== "audio" && modality !== "both" && audioItemId === undefined) return ""
  return audioTruncatedAtMs === undefined ? "[audio]" : `[audio, stopped after ${audioTruncatedAtMs / 1000} s]`
}

/**
 * Returns the reported status and reason. If none was reported, an answer with a call that was never settled counts as
 * interrupted.
 */
function resolveEnd(
  message: Message,
  endRecord: OpenAnswer["endRecord"],
  isCancelled: boolean,
): { status: EndStatus; reason: string | null } {
  const status = endRecord?.status
  if (status === "running" || status === "waiting") return { status: "interrupted", reason: "process_restart" }
  if (status !== undefined) return { status, reason: endRecord?.reason ?? null }
  if (isCancelled) return { status: "cancelled", reason: null }
  if (endRecord?.interrupted === true) return { status: "interrupted", reason: null }
  const isComplete = listCalls(message).every((call) => isSettled(call.status) || isDeferred(call))
  return isComplete ? { status: "completed", reason: null } : { status: "interrupted", reason: null }
}
