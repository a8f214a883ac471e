/**
 * assembler.ts: records of any producer become messages.
 *
 * records, in reading order → ASSEMBLE → events → intake (clean) → fold → messages
 * Takes turn records, stream events and mixes of both. A record without `responseId` belongs to the answer that stands
 * open in the turn of the last question. What comes for a message that is closed already is told apart, so that a
 * transcript of any length needs the memory of one turn.
 * Pure.
 */

import { type AwaitedCall, awaitedIn, awaitedOf, isQueued, type Waiting } from "./pending-calls.ts"
import { createBound, cut } from "./answer-budget.ts"
import type { AgentTag, TurnEvent } from "../protocol/event.ts"
import { cardInTrailer } from "../protocol/card-cue.ts"
import { createIntake } from "./intake.ts"
import {
  MAX_ARGS_CHARS,
  MAX_ERROR_CHARS,
  MAX_ID_CHARS,
  MAX_IMPORTED_WAITS,
  MAX_RESULT_BYTES,
  MAX_SUMMARY_CHARS,
  MAX_TOOL_NAME_CHARS,
} from "../limits.ts"
import {
  callsOf,
  fold,
  type Grants,
  isDeferred,
  isSettled,
  type Message,
  openMessage,
  tooLarge,
} from "../protocol/message.ts"
import type { StreamRecord } from "../protocol/record.ts"
import { utf8Bytes } from "../truncate.ts"
import { sentAlong, withGrants } from "./record-trust.ts"

/** A message, whole; and where its file says that it stood, if it does. */
export interface Assembled {
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
export interface Late {
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
  take(record: StreamRecord, n: number): readonly (Assembled | Late)[]
  /** The file is over. */
  end(): readonly (Assembled | Late)[]
}

type Told =
  | TurnEvent
  | { readonly type: "unstreamed"; readonly text: string }
  /** Of the text part that ended last. */
  | { readonly type: "granted"; readonly grants: Grants }

interface Open {
  readonly id: string
  /** A record told its id; until then what comes with an id goes on with it. */
  readonly isNamed: boolean
  readonly exchange: string
  readonly timestamp: string
  /** Events, and texts that count only if nothing streams. */
  readonly events: Told[]
  /** What it says of files, and of what its directives may name, counts. */
  readonly isVouched: boolean
  step: number
  /** It names the channels of its calls, as we do. */
  isOurs: boolean
  isStreamed: boolean
  /** Something of the part that is open has come. */
  hasDelta: boolean
  last: Extract<StreamRecord, { type: "assistant_message" }> | null
  isCancelled: boolean
}

/**
 * Shapes  records → messages, in the order in which they were closed; ids that are no ids of ours are made so.
 * Files, and what directives may name, are taken only from a file that is vouched for: of another they are dropped.
 * Cost    linear; the memory of one turn. `closed` is asked once for each message, and for what comes late.
 * Source  SPEC RE3–RE6; seed 001 §6.
 */
export function createAssembler(
  closed: ClosedIds = new Set<string>(),
  waiting: readonly Waiting[] = [],
  isVouched = true,
): Assembler {
  /** Answers of the turn at hand, by the ids that their records name. */
  const open = new Map<string, Open>()
  /** Calls of closed answers whose true result is still to come. */
  const awaited: AwaitedCall[] = waiting.map(awaitedOf)
  let question: Assembled | null = null
  let exchange = ""
  let at = 0
  const freshId = (): string => `imported-${at}`
  const isTaken = (id: string): boolean => id === question?.message.id || closed.has(id)

  const closeAll = (): Assembled[] => {
    const done = [...(question === null ? [] : [question]), ...[...open.values()].map(assemble)]
    for (const { message } of done) {
      awaited.push(...awaitedIn(message))
      closed.add(message.id)
    }
    awaited.splice(0, awaited.length - MAX_IMPORTED_WAITS)
    open.clear()
    question = null
    return done
  }
  /** The call that a callback answers is filled in where it stands. */
  const answered = (record: Asking): Late[] => {
    const at = record.type === "agent_callback" ? awaited.findIndex((one) => isAnsweredBy(one, record)) : -1
    return awaited.splice(at, at < 0 ? 0 : 1).map(({ id, call_id }) => {
      return { kind: "late", id, events: [resultOf(call_id, true, record.text, undefined, null)], lost: 0 }
    })
  }
  const ask = (record: Asking): (Assembled | Late)[] => {
    const whole = closeAll()
    const told = idOf(record.responseId ?? record.turnId)
    // Two questions of one turn are two messages.
    const id = told === null || whole.some(({ message }) => message.id === told) || closed.has(told) ? freshId() : told
    exchange = idOf(record.turnId) ?? id
    const message = openMessage({
      ...{ id, role: record.type === "user_message" ? "user" : "agent", exchange_id: exchange, status: "completed" },
      ...{ words: record.text, timestamp: timeOf(record), version: record.version ?? 1 },
      ...(record.type === "user_message" ? sentAlong(record, isVouched) : {}),
      ...(record.type === "user_message" ? { reply_to: idOf(record.replyTo) } : receivedFrom(record, id)),
    })
    const files = record.type === "user_message" ? (record.attachments ?? []) : []
    question = { kind: "message", message, lost: files.length - message.attachments.length, ...placeOf(record) }
    return [...whole, ...answered(record)]
  }
  const answerOf = (record: StreamRecord): Open => {
    const named = idOf(record.responseId)
    const id = named ?? [...open.keys()].at(-1) ?? freshId()
    const known = open.get(id)
    if (known !== undefined) return known
    // What came before without a name is the beginning of the first answer that has one.
    const [unnamed] = [...open.values()].filter((one) => !one.isNamed)
    if (unnamed !== undefined) {
      open.delete(unnamed.id)
      const renamed = { ...unnamed, id: isTaken(id) ? unnamed.id : id, isNamed: true }
      open.set(id, renamed)
      return renamed
    }
    const turn = idOf(record.turnId) ?? (exchange === "" ? id : exchange)
    const made = { ...openAnswer(isTaken(id) ? freshId() : id, turn, record, isVouched), isNamed: named !== null }
    open.set(id, made)
    return made
  }
  return {
    take(record, n) {
      at = n
      if (isAsking(record)) return ask(record)
      if (record.type === "signature" || record.type === "asset") return []
      const id = idOf(record.responseId)
      // What names its question, or their turn, is an answer to it.
      if (id === null || id === exchange || open.has(id) || !closed.has(id)) {
        hear(answerOf(record), record)
        return []
      }
      const late = openAnswer(id, exchange, record, isVouched)
      hear(late, record)
      const events = late.events.filter((event) => event.type === "tool_result")
      return [{ kind: "late", id, events, lost: isSaying(record) && events.length === 0 ? 1 : 0 }]
    },
    end: closeAll,
  }
}

/** Records that begin a turn. */
type Asking = Extract<StreamRecord, { type: "user_message" | "agent_message" | "agent_callback" }>

function isAsking(record: StreamRecord): record is Asking {
  return record.type === "user_message" || record.type === "agent_message" || record.type === "agent_callback"
}

function receivedFrom(record: Exclude<Asking, { type: "user_message" }>, id: string): Partial<Message> {
  const { from = "agent", agentExchangeId, origin = null } = record
  const tag = tagOf("received", from, agentExchangeId, id)
  if (record.type === "agent_message") return { agent: tag, origin }
  return { agent: { ...tag, call_id: callIdOf(record.callId ?? id) }, origin }
}

function tagOf(direction: AgentTag["direction"], name: string, exchange: string | undefined, id: string): AgentTag {
  return { direction, name: idOf(name) ?? "agent", exchange: idOf(exchange) ?? id }
}

function isAnsweredBy(
  { call_id, response }: AwaitedCall,
  record: Extract<Asking, { type: "agent_callback" }>,
): boolean {
  const { callId, responseId, agentExchangeId } = record
  if (callId !== undefined) return callIdOf(callId) === call_id
  return response !== null && (response === responseId || response === agentExchangeId)
}

/** Whether a record says anything that a reader would see. */
function isSaying({ type }: StreamRecord): boolean {
  return type === "text_delta" || type === "thinking_delta" || type === "tool_call"
}

function openAnswer(id: string, exchange: string, record: StreamRecord, isVouched: boolean): Open {
  return {
    ...{ isVouched, id, exchange, timestamp: timeOf(record), events: [], step: 0, isNamed: true, isOurs: false },
    ...{ isStreamed: false, hasDelta: false, last: null, isCancelled: false },
  }
}

/** Takes one record into the answer that it belongs to. */
function hear(answer: Open, record: Exclude<StreamRecord, Asking | { type: "signature" | "asset" }>): void {
  const say = (event: Open["events"][number]): void => void answer.events.push(event)
  for (; answer.step < (record.step ?? 0); answer.step++) say({ type: "step_start" })
  switch (record.type) {
    case "text_delta":
    case "thinking_delta":
      answer.isStreamed ||= record.type === "text_delta"
      answer.hasDelta = true
      return say({ type: record.type, delta: record.delta })
    case "thinking_start":
      answer.hasDelta = false
      return say({ type: "thinking_done" })
    case "text_done":
      if (!answer.hasDelta && record.text !== undefined) {
        answer.isStreamed = true
        say({ type: "text_delta", delta: record.text })
      }
      answer.hasDelta = false
      if (record.grants !== undefined && answer.isVouched) say({ type: "granted", grants: record.grants })
      // A part that was cut is left open: the end of its message cuts it.
      return record.cut === true ? undefined : say({ type: "text_done" })
    case "thinking_done": {
      if (!answer.hasDelta && record.text !== undefined) say({ type: "thinking_delta", delta: record.text })
      answer.hasDelta = false
      return say({ type: "thinking_done", ...(record.ms === undefined ? {} : { ms: record.ms }) })
    }
    case "assistant_message":
      answer.last = record
      return say({ type: "unstreamed", text: record.text })
    case "output_cancelled":
      answer.isCancelled = true
      return undefined
    case "tool_call":
    case "tool_call_start":
    case "tool_approval":
    case "tool_output_delta":
    case "tool_result":
      answer.hasDelta = false
      if (record.type === "tool_call_start" && record.channel !== undefined) answer.isOurs = true
      return hearCall(say, record, answer)
  }
}

type CallRecord = Extract<StreamRecord, { type: `tool_${string}` }>

/** A record of another system names no channel; its results may ask for a card in their trailers, as seed 000's do. */
function hearCall(say: (event: TurnEvent) => void, record: CallRecord, { isOurs, isVouched }: Open): void {
  const call_id = callIdOf(record.callId)
  switch (record.type) {
    case "tool_call":
      return say(callOf(call_id, record.toolName, record.arguments))
    case "tool_call_start": {
      const { toolName, channel = "user", ordinal = null, ephemeral = false } = record
      // Where a call is only told by its start; a second one of the same id changes nothing.
      if (toolName !== undefined) say(callOf(call_id, toolName, record.arguments))
      return say({ type: "tool_call_start", call_id, channel, ordinal, ephemeral })
    }
    case "tool_approval":
      return say({ type: "tool_approval", call_id, approval: record.approval })
    case "tool_output_delta":
      return say({ type: "tool_output_delta", call_id, delta: record.delta })
    case "tool_result": {
      const { ok, result, error, outputSize, toolName = "" } = record
      const card = record.card ?? (!isOurs && typeof result === "string" ? cardInTrailer(toolName, result) : null)
      const isWaiting = record.waiting === true || isQueued(result)
      const event = resultOf(call_id, isWaiting ? "waiting" : ok, result, error, card)
      const media = isVouched ? (record.media ?? []) : []
      const size = outputSize === undefined ? {} : { output_size: outputSize }
      return say({ ...event, ...size, ...(media.length === 0 ? {} : { media }) })
    }
  }
}

function callOf(call_id: string, toolName: string, told = "{}"): TurnEvent {
  const [name, args] = [cut(toolName, MAX_TOOL_NAME_CHARS), cut(told, MAX_ARGS_CHARS)]
  return { type: "tool_call", call_id, name, args }
}

function resultOf(
  call_id: string,
  ok: boolean | "waiting",
  result: unknown,
  error: { readonly code: string; readonly message: string } | undefined,
  card: string | null,
): Extract<TurnEvent, { type: "tool_result" }> {
  const status = ok === "waiting" ? ok : ok ? "ok" : error?.code === "tool_interrupted" ? "interrupted" : "failed"
  const text = result === undefined ? null : typeof result === "string" ? result : JSON.stringify(result)
  if (text !== null && utf8Bytes(text) > MAX_RESULT_BYTES) return tooLarge(call_id)
  const told = error === undefined ? null : { code: cut(error.code, 64), message: cut(error.message, MAX_ERROR_CHARS) }
  return { type: "tool_result", call_id, status, result: text, card, error: told }
}

/** The message that an answer's records come to. */
function assemble(answer: Open): Assembled {
  const { last, isStreamed, isCancelled } = answer
  const { id, exchange: exchange_id, timestamp } = answer
  const summary =
    last?.summary === undefined ? null : { ...last.summary, text: cut(last.summary.text, MAX_SUMMARY_CHARS) }
  const origin = last?.origin ?? null
  const head = { id, role: "assistant", exchange_id, timestamp, version: last?.version ?? 1, summary, origin } as const
  const intake = createIntake()
  const agent = last?.to === undefined ? null : tagOf("sent", last.to, last.agentExchangeId, id)
  let message: Message = openMessage({ ...head, mode: last?.mode ?? "chat", agent, reply_to: idOf(last?.replyTo) })
  let lost = 0
  const fits = createBound()
  for (const event of answer.events) {
    if (event.type === "unstreamed" && (isStreamed || event.text === "")) continue
    if (event.type === "granted") {
      message = withGrants(message, event.grants)
      continue
    }
    const raw: TurnEvent = event.type === "unstreamed" ? { type: "text_delta", delta: event.text } : event
    if (!fits(message, raw)) {
      lost += 1
      continue
    }
    for (const clean of intake.take(raw)) {
      const next = fold(message, clean)
      if (clean.type === "tool_result" && next === message) lost += 1
      message = next
    }
  }
  const { status, reason } = endOf(message, last, isCancelled)
  for (const clean of intake.take({ type: "end", status, reason, metrics: last?.metrics ?? null }))
    message = fold(message, clean)
  return { kind: "message", message, lost, ...placeOf(last ?? {}) }
}

interface Place {
  readonly pos?: number | undefined
  readonly parent?: number | null | undefined
  readonly tip?: number | undefined
}

function placeOf({ pos, parent, tip }: Place): Omit<Assembled, "kind" | "message" | "lost"> {
  return { pos: pos ?? null, parent, tip: tip ?? null }
}

type Ended = "completed" | "cancelled" | "interrupted" | "failed"

/** How it ended, where it is told; else from what is there: calls that never came back tell of an end from outside. */
function endOf(message: Message, last: Open["last"], isCancelled: boolean): { status: Ended; reason: string | null } {
  const status = last?.status
  if (status === "running" || status === "waiting") return { status: "interrupted", reason: "process_restart" }
  if (status !== undefined) return { status, reason: last?.reason ?? null }
  if (isCancelled) return { status: "cancelled", reason: null }
  const isWhole = callsOf(message).every((call) => isSettled(call.status) || isDeferred(call))
  return isWhole ? { status: "completed", reason: null } : { status: "interrupted", reason: null }
}

/** Ids of other producers may hold anything: what is no id of ours is kept as far as it can be one. */
export function idOf(text: string | undefined): string | null {
  const id = (text ?? "").replace(/[^A-Za-z0-9_-]/g, "-").slice(0, MAX_ID_CHARS)
  return id === "" ? null : id
}

function callIdOf(text: string): string {
  return idOf(text) ?? "call"
}

/** Who reads the file has made it ISO 8601, as ours is. */
function timeOf({ timestamp }: StreamRecord): string {
  return timestamp ?? "1970-01-01T00:00:00.000Z"
}
