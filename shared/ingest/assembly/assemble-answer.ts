/**
 * assemble-answer.ts: the collected events of one imported answer become a message.
 *
 * open answer → intake (clean) → fold → message
 * Pure.
 */

import type { AgentTag, TurnEvent } from "../../protocol/event.ts"
import { MAX_SUMMARY_CHARS } from "../../limits.ts"
import { createMessage, isDeferred, isSettled, listCalls, type Message } from "../../protocol/message.ts"
import { foldAt } from "../../protocol/part-times.ts"
import { boundText } from "../call-events.ts"
import { createAnswerBudget } from "./answer-budget.ts"
import { createIntake } from "../intake.ts"
import type { AnswerEvent, EndRecord, OpenAnswer } from "./open-answer.ts"
import { readEventTime } from "./record-time.ts"
import { toPublicId } from "../public-id.ts"
import { withGrants } from "./record-trust.ts"

/** A complete message, with its position if the file names one. */
export interface AssembledMessage {
  readonly kind: "message"
  readonly message: Message
  readonly pos: number | null
  /** Undefined if the file does not name a parent. */
  readonly parent: number | null | undefined
  readonly tip: number | null
  /** Number of events that changed nothing: over budget, or a second result for a call. */
  readonly lost: number
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

/** Names another agent as sender or receiver of a message. */
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
  const intake = createIntake()
  const { message: folded, lost } = foldEvents(createEmptyAnswer(answer), answer, intake.cleanEvent)
  const { status, reason } = resolveEnd(folded, endRecord, answer.isCancelled)
  const endEvents = intake.cleanEvent({ type: "end", status, reason, metrics: endRecord?.metrics ?? null })
  const endedAt = endRecord === null ? answer.times.at(-1) : readEventTime(endRecord)
  const message = endEvents.reduce((before, event) => foldAt(before, event, endedAt), folded)
  return { kind: "message", message, lost, ...readPlacement(endRecord ?? {}) }
}

function createEmptyAnswer({ endRecord, id, exchangeId, timestamp }: OpenAnswer): Message {
  const { summary, to, agentExchangeId, origin = null, version = 1, mode = "chat", replyTo } = endRecord ?? {}
  return createMessage({
    id,
    role: "assistant",
    exchange_id: exchangeId,
    // Our own exports state when the answer began. In other files it is the time of its first record.
    timestamp: endRecord?.started ?? timestamp,
    version,
    summary: summary === undefined ? null : { ...summary, text: boundText(summary.text, MAX_SUMMARY_CHARS) },
    origin,
    mode,
    agent: to === undefined ? null : createAgentTag("sent", to, agentExchangeId, id),
    reply_to: toPublicId(replyTo),
  })
}

function foldEvents(
  empty: Message,
  answer: OpenAnswer,
  cleanEvent: (event: TurnEvent) => TurnEvent[],
): { readonly message: Message; readonly lost: number } {
  const isWithinBudget = createAnswerBudget()
  let message = empty
  let lost = 0
  for (const { at, ...event } of joinOutputs(completeEvents(answer))) {
    if (event.type === "granted") {
      message = withGrants(message, event.grants)
      continue
    }
    if (!isWithinBudget(message, event)) {
      lost += 1
      continue
    }
    for (const clean of cleanEvent(event)) {
      const next = foldAt(message, clean, at)
      if (clean.type === "tool_result" && next === message) lost += 1
      message = next
    }
  }
  return { message, lost }
}

/** An event and the time of its record. */
type FoldedEvent = (TurnEvent | Extract<AnswerEvent, { type: "granted" }>) & { readonly at?: string | undefined }

/** Joins adjacent pieces of a call's output, because folding one costs as much as folding all. */
function joinOutputs(events: readonly FoldedEvent[]): FoldedEvent[] {
  const joined: FoldedEvent[] = []
  for (const event of events) {
    const last = joined.at(-1)
    const isNext = event.type === "tool_output_delta" && last?.type === event.type && last.call_id === event.call_id
    if (isNext) joined[joined.length - 1] = { ...last, delta: last.delta + event.delta }
    else joined.push(event)
  }
  return joined
}

/**
 * Adds the texts of the answer's end as far as they were not streamed: thinking first, the text where the end was reported,
 * and lost text after the last delta. A spoken answer without a text gets a label (SPEC IR4).
 */
function completeEvents(answer: OpenAnswer): FoldedEvent[] {
  const { streamed, endRecord, times } = answer
  const { text = "", thinkingText = "" } = endRecord ?? {}
  const isTextStreamed = streamed.hasText("text")
  const unstreamed = isTextStreamed ? "" : text === "" ? describeRecording(endRecord) : text
  const rest = isTextStreamed && text !== "" ? (streamed.findRestOfResponse("text", text) ?? "") : ""
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
    ...createTextEvents("text", rest, times.at(-1)),
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

/** The reported end. Without one, calls that were never settled mean that the answer was interrupted. */
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
