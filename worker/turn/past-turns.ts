/**
 * past-turns.ts: the stored turns of a session as model messages, newest first.
 *
 * store → PAST TURNS → model-context.ts, context-summary.ts
 * Earlier turns go to the model without spans, directives, trailers or escapes. A note replaces each file.
 */

import { MAX_QUOTE_CHARS } from "../../shared/limits.ts"
import { extractResultData } from "../../shared/protocol/card-cue.ts"
import { isDeferred, listCalls, type Message, type Summary, type ToolCall } from "../../shared/protocol/message.ts"
import { cleanToModel } from "../../shared/sanitize/clean.ts"
import { plainText, segmentsOf } from "../../shared/segment/segmenter.ts"
import { isApp, isAsset } from "../../shared/protocol/asset.ts"
import { callMediaToNote, stripDirectives } from "../../shared/segment/strip-directives.ts"
import { cutText } from "../../shared/text/cut-text.ts"
import type { AssistantPart, ModelMessage, ReplyQuote } from "../model/model-adapter.ts"
import {
  CONTINUE_NOTE,
  formatAgentAnswerHeader,
  formatAgentQuestionHeader,
  formatUserHeader,
  hasAgentHeader,
} from "../model/system-prompt.ts"
import { estimateMessageTokens } from "../model/token-estimate.ts"
import { findOpenText } from "./continuation/join-text.ts"
import type { StepState } from "../store/model/provider-state-rows.ts"
import type { StoredMessage } from "../store/row-codec.ts"
import type { SessionStore } from "../store/session-store.ts"

export type MessageLookup = (pos: number) => StoredMessage | null

/** A turn of the active path: one or more questions, and the answer. */
export interface PastTurn {
  /** Position of its newest message. */
  readonly newestPos: number
  readonly messages: readonly ModelMessage[]
  readonly tokens: number
  /** The summary of everything before this turn, if this turn was the first to use one. */
  readonly summary: Summary | null
}

/** The turns up to a position, newest first. If the position is a question, that question alone is the first turn. */
export type PastTurns = (parent: number | null) => Generator<PastTurn>

/**
 * Reads turns one at a time and caches them, because an ended turn no longer changes.
 *
 * Each turn's rows are read once while the object lives, unless the cache exceeds `2 * maxTokens` and evicts the turn.
 */
export function createPastTurns(
  readMessage: MessageLookup,
  maxTokens: number,
  lookUpQuote: QuoteLookup = () => null,
): PastTurns {
  const cache = createTurnCache(maxTokens)
  return function* readPastTurns(parent) {
    for (let newest = parent; newest !== null; ) {
      const cached = cache.get(newest)
      const found = cached ?? readTurn(newest, readMessage, lookUpQuote)
      if (found === null) return
      // A turn that waits for a late tool result will still change.
      if (cached === undefined && !found.isOpen) cache.add(found)
      yield found.turn
      newest = found.previousPos
    }
  }
}

interface CachedTurn {
  readonly turn: PastTurn
  /** Position of the newest message of the preceding turn. */
  readonly previousPos: number | null
  readonly isOpen: boolean
}

interface TurnCache {
  get(newestPos: number): CachedTurn | undefined
  add(found: CachedTurn): void
}

/**
 * Creates a cache limited by tokens. It evicts by position, not by age: the turns near the end of the path are needed
 * next.
 */
function createTurnCache(maxTokens: number): TurnCache {
  const turns = new Map<number, CachedTurn>()
  let tokens = 0
  return {
    get: (newestPos) => turns.get(newestPos),
    add(found) {
      turns.set(found.turn.newestPos, found)
      tokens += found.turn.tokens
      if (tokens <= 2 * maxTokens) return
      // Evicting down to `maxTokens`, the size of one context, makes evictions rare and keeps the turns that are in
      // use.
      for (const newestPos of [...turns.keys()].sort((a, b) => a - b)) {
        if (tokens <= maxTokens) return
        tokens -= turns.get(newestPos)?.turn.tokens ?? 0
        turns.delete(newestPos)
      }
    },
  }
}

function readTurn(newest: number, readMessage: MessageLookup, lookUpQuote: QuoteLookup): CachedTurn | null {
  let messages: ModelMessage[] = []
  let summary: Summary | null = null
  let isOpen = false
  for (let pos: number | null = newest; pos !== null; ) {
    const stored: StoredMessage | null = readMessage(pos)
    if (stored === null) return null
    const { message } = stored
    messages = [...messageToModelMessages(message, lookUpQuote), ...messages]
    summary ??= message.summary
    isOpen ||= listCalls(message).some(isDeferred)
    pos = stored.parent
    // An external answer has no question, so each one is a separate turn, and a series of them doesn't become one long
    // turn.
    if (message.role === "assistant" && message.mode !== "external" && pos !== null) continue
    const turn = { newestPos: newest, messages, tokens: estimateMessageTokens(messages), summary }
    return { turn, previousPos: pos, isOpen }
  }
  return null
}

function messageToModelMessages(message: Message, lookUpQuote: QuoteLookup): readonly ModelMessage[] {
  return message.role === "assistant"
    ? answerToModelMessages(message, false)
    : [questionToModelMessage(message, lookUpQuote)]
}

/**
 * Converts a question. Adds the quote of the message to which it replies, and its files, whose content is not included
 * yet.
 */
function questionToModelMessage(message: Message, lookUpQuote: QuoteLookup): ModelMessage {
  const quote = message.reply_to === null ? null : lookUpQuote(message.reply_to)
  const files = message.attachments.map((asset) => ({ asset, inclusion: "left_out" as const }))
  const extras = { ...(quote === null ? {} : { quote }), ...(files.length === 0 ? {} : { files }) }
  return { role: "user", content: questionText(message), ...extras }
}

/**
 * Returns the user's text, or another agent's text after a header. A user's text that imitates such a header gets a
 * header that says it is the user's.
 */
function questionText({ words, agent, mode }: Message): string {
  // Some providers refuse an empty message.
  if (mode === "spoken" && words === "") return "(a spoken message without a transcript)"
  if (agent === null) return hasAgentHeader(words) ? `${formatUserHeader()}\n\n${words}` : words
  const head = agent.call_id === undefined ? formatAgentQuestionHeader(agent.name) : formatAgentAnswerHeader(agent.name)
  return `${head}\n\n${cleanToModel(words)}`
}

/**
 * Converts an answer to model messages: per step, the assistant's parts and then the results of its calls.
 * `isCurrent`: the current turn's answer. Its results are sent verbatim, because their trailers contain the tags to
 * place.
 */
export function answerToModelMessages(
  message: Message,
  isCurrent: boolean,
  states: readonly StepState[] = [],
): ModelMessage[] {
  const messages: ModelMessage[] = []
  const steps = Map.groupBy(message.parts, (part) => part.step)
  for (const [step, stepParts] of steps) {
    const parts: AssistantPart[] = []
    const results: ModelMessage[] = []
    for (const part of stepParts) {
      if (part.type === "text") {
        const text = cleanToModel(stripDirectives(part.text, part.grants))
        if (text.trim() !== "") parts.push({ type: "text", text })
      }
      if (part.type === "tool_call" && (isCurrent || !part.call.ephemeral)) {
        const { call_id, name, args } = part.call
        parts.push({ type: "tool_call", call_id, name, args })
        results.push(callToResultMessage(part.call, isCurrent))
      } else if (part.type === "tool_call") {
        const notes = formatMediaNotes(part.call)
        if (notes !== "") parts.push({ type: "text", text: notes })
      }
    }
    const state = states.find((stored) => stored.step === step)
    if (parts.length > 0) messages.push({ role: "assistant", parts, ...(state && { state }) }, ...results)
  }
  // The answer continues in the middle of its text.
  if (isCurrent && findOpenText(message) !== null) messages.push({ role: "user", content: CONTINUE_NOTE })
  return messages
}

function callToResultMessage(call: ToolCall, isCurrent: boolean): ModelMessage {
  const { call_id, name, status, error } = call
  const whole = call.result ?? JSON.stringify({ error: error?.message ?? "No result." })
  const result = isCurrent ? whole : appendMediaNotes(extractResultData({ ...call, result: whole }), call)
  return { role: "tool", call_id, name, result, ok: status === "ok" || isDeferred(call) }
}

/**
 * Appends notes about media. They replace the trailer that named the media, because trailers are stripped from earlier
 * results.
 */
function appendMediaNotes(data: string, call: ToolCall): string {
  const notes = formatMediaNotes(call)
  return notes === "" ? data : `${data}\n\n${notes}`
}

/** Formats the notes. An MCP App shows the result itself, so the model needs no note about it. */
function formatMediaNotes({ media }: ToolCall): string {
  return media
    .filter((item) => !isAsset(item) || !isApp(item))
    .map(callMediaToNote)
    .join("\n")
}

/** Looks up the start of a message in the session by its id; null if there is nothing to quote. */
export type QuoteLookup = (id: string) => ReplyQuote | null

/**
 * Creates a function that quotes the message to which a user replies. The context may not contain that message: it can
 * be too old, or in another version.
 */
export function createQuoteLookup(store: Pick<SessionStore, "findById" | "findMessageAt">): QuoteLookup {
  return (id) => {
    const pos = store.findById(id)?.pos ?? null
    const message = pos === null ? null : (store.findMessageAt(pos)?.message ?? null)
    return message === null ? null : messageToQuote(message)
  }
}

function messageToQuote(message: Message): ReplyQuote | null {
  const text = plainText(message).trim()
  const content = text === "" ? joinMediaLabels(message) : text
  if (content === "") return null
  const head = cutText(content, MAX_QUOTE_CHARS)
  return { from: message.role, text: head.length < content.length ? `${head} […]` : head }
}

/** Lists file names, for a message that consists only of media. */
function joinMediaLabels(message: Message): string {
  return segmentsOf(message)
    .flatMap((segment) => (segment.type === "media" ? [segment.label] : []))
    .join(", ")
}
