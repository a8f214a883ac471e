/**
 * model-context.ts: what goes to the model: a summary of what is older, the newest whole turns that fit, and this turn so far.
 *
 * store → CONTEXT → model
 * Older turns go back without spans, directives, trailers and escapes, with a note for each file that was attached;
 * this turn's tool results go verbatim, trailer and all, since the model reads its tags there. A tool's call and result
 * are never parted.
 */

import { cleanToModel } from "../../shared/sanitize/clean.ts"
import { extractResultData, splitResult } from "../../shared/protocol/card-cue.ts"
import { MAX_FILES_SHARE, MAX_MODEL_FILE_BYTES } from "../../shared/limits.ts"
import { listCalls, isDeferred, type Message, type Summary, type ToolCall } from "../../shared/protocol/message.ts"
import { assetToNote, stripDirectives } from "../../shared/segment/strip-spans.ts"
import {
  formatAgentAnswerHeader,
  formatAgentQuestionHeader,
  hasAgentHeader,
  formatUserHeader,
} from "../model/system-prompt.ts"
import type { AssistantPart, ModelMessage, ToolSpec } from "../model/model-adapter.ts"
import { includeFiles, type FileKinds } from "../model/model-files.ts"
import {
  truncateToTokens,
  estimateTokens,
  estimatePromptTokens,
  estimateMessageTokens,
} from "../model/token-estimate.ts"
import type { QuoteLookup } from "./reply-quote.ts"
import type { StoredMessage } from "../store/row-codec.ts"

export type MessageLookup = (pos: number) => StoredMessage | null

/** A whole turn of the active path: a person's words and the answer to them. */
export interface PastTurn {
  /** Position of its newest message. */
  readonly newestPos: number
  readonly messages: readonly ModelMessage[]
  readonly tokens: number
  /** What it was told instead of all before it, if it was. */
  readonly summary: Summary | null
}

/** The turns that end at a position, newest first; asked from an answer, the first is this turn's own question. */
export type PastTurns = (parent: number | null) => Generator<PastTurn>

/**
 * Reads turns, one at a time, and keeps those that it read: what has ended changes no more.
 *
 * Cost    the rows of each turn, once while the object lives; at most twice `maxTokens` are kept.
 */
export function createPastTurns(
  readMessage: MessageLookup,
  maxTokens: number,
  lookUpQuote: QuoteLookup = () => null,
): PastTurns {
  const cache = new Map<number, CachedTurn>()
  let tokens = 0
  const cacheTurn = (found: CachedTurn): void => {
    cache.set(found.turn.newestPos, found)
    tokens += found.turn.tokens
    if (tokens <= 2 * maxTokens) return
    // The oldest go, down to what one walk may read: so this happens seldom, and never to what is in use.
    for (const newest of [...cache.keys()].sort((a, b) => a - b)) {
      if (tokens <= maxTokens) return
      tokens -= cache.get(newest)?.turn.tokens ?? 0
      cache.delete(newest)
    }
  }
  return function* readPastTurns(parent) {
    for (let newest = parent; newest !== null; ) {
      const kept = cache.get(newest)
      const found = kept ?? readTurn(newest, readMessage, lookUpQuote)
      if (found === null) return
      // What waits for its true result changes yet.
      if (kept === undefined && !found.isOpen) cacheTurn(found)
      yield found.turn
      newest = found.previousPos
    }
  }
}

interface CachedTurn {
  readonly turn: PastTurn
  /** Where the turn before it ends. */
  readonly previousPos: number | null
  readonly isOpen: boolean
}

function readTurn(newest: number, readMessage: MessageLookup, lookUpQuote: QuoteLookup): CachedTurn | null {
  let messages: ModelMessage[] = []
  let summary: Summary | null = null
  let isOpen = false
  for (let pos: number | null = newest; pos !== null; ) {
    const stored: StoredMessage | null = readMessage(pos)
    if (stored === null) return null
    const { message } = stored
    messages = [
      ...(message.role === "assistant"
        ? answerToModelMessages(message, false)
        : [questionToModelMessage(message, lookUpQuote)]),
      ...messages,
    ]
    summary ??= message.summary
    isOpen ||= listCalls(message).some(isDeferred)
    pos = stored.parent
    // What came from outside answered nobody: it is a turn by itself, so that many of them do not become one.
    if (message.role === "assistant" && message.mode !== "external" && pos !== null) continue
    return {
      turn: { newestPos: newest, messages, tokens: estimateMessageTokens(messages), summary },
      previousPos: pos,
      isOpen,
    }
  }
  return null
}

export interface ContextRequest {
  /** This turn's answer so far, and the position of its question. */
  readonly current: Message
  readonly parent: number | null
  readonly past: PastTurns
  readonly system: string
  readonly tools: readonly ToolSpec[]
  /** All that goes into one call. */
  readonly tokens: number
  /** Files that the model can be given; others are told. */
  readonly fileKinds?: FileKinds
}

const NO_FILES: FileKinds = new Set()

/** Words before a summary in the system prompt. */
const SUMMARY_HEAD = "Earlier in this conversation, in short (the messages themselves are left out here):"

export interface ModelContext {
  readonly system: string
  /** Oldest first. */
  readonly messages: readonly ModelMessage[]
}

/**
 * What the next model call of a turn is told: at most `tokens`, prompt and tools included.
 *
 * Shapes  ContextRequest → Context; null where this turn alone is too much, even with its results and arguments cut.
 * Cost    reads whole turns, newest first, until a summary or the budget ends it: flat in the length of a session.
 * Source  SPEC TU6, TU9.
 */
export function buildContext(request: ContextRequest): ModelContext | null {
  const { current, parent, past, system, tools, fileKinds: takes = NO_FILES } = request
  const turns = past(parent)
  // This turn's own question always goes along.
  const plainQuestion = turns.next().value?.messages ?? []
  let { summary } = current
  let tokensLeft =
    request.tokens -
    estimatePromptTokens(system, tools) -
    estimateMessageTokens(plainQuestion) -
    countSummaryTokens(summary)
  const currentTurn = answerToModelMessages(current, true)
  const questionWithFiles = includeFiles(plainQuestion, {
    fileKinds: takes,
    tokens: Math.floor(tokensLeft * MAX_FILES_SHARE),
    bytes: MAX_MODEL_FILE_BYTES,
  })
  const tokensLeftWithFiles =
    tokensLeft + estimateMessageTokens(plainQuestion) - estimateMessageTokens(questionWithFiles.messages)
  // What its files leave may be too little for what it has grown to: then they are only told.
  const turnBesideFiles = fitTurn(currentTurn, tokensLeftWithFiles)
  const fittedTurn = turnBesideFiles ?? fitTurn(currentTurn, tokensLeft)
  if (fittedTurn === null) return null
  const question = turnBesideFiles === null ? plainQuestion : questionWithFiles.messages
  tokensLeft = (turnBesideFiles === null ? tokensLeft : tokensLeftWithFiles) - estimateMessageTokens(fittedTurn)
  const older: (readonly ModelMessage[])[] = []
  for (const turn of turns) {
    if (summary !== null && turn.newestPos <= summary.upto) break
    const fresh = summary === null ? turn.summary : null
    const cost = turn.tokens + countSummaryTokens(fresh)
    if (cost > tokensLeft) break
    tokensLeft -= cost
    older.push(turn.messages)
    summary ??= fresh
  }
  const systemWithSummary = summary === null ? system : `${system}\n\n${SUMMARY_HEAD}\n${summary.text}`
  // What is left is for the files of those.
  const olderWithFiles = includeFiles(older.reverse().flat(), {
    fileKinds: takes,
    tokens: tokensLeft,
    bytes: questionWithFiles.remainingBudget.bytes,
  })
  return { system: systemWithSummary, messages: [...olderWithFiles.messages, ...question, ...fittedTurn] }
}

function countSummaryTokens(summary: Summary | null): number {
  return summary === null ? 0 : estimateTokens(SUMMARY_HEAD) + estimateTokens(summary.text) + 1
}

/** What somebody said to the model, and what that replies to. */
function questionToModelMessage(message: Message, lookUpQuote: QuoteLookup): ModelMessage {
  const quote = message.reply_to === null ? null : lookUpQuote(message.reply_to)
  const files = message.attachments.map((asset) => ({ asset, inclusion: "left_out" as const }))
  const extras = { ...(quote === null ? {} : { quote }), ...(files.length === 0 ? {} : { files }) }
  return { role: "user", content: questionText(message), ...extras }
}

function answerToModelMessages(message: Message, isCurrent: boolean): ModelMessage[] {
  const messages: ModelMessage[] = []
  const steps = Map.groupBy(message.parts, (part) => part.step)
  for (const parts of steps.values()) {
    const pieces: AssistantPart[] = []
    const results: ModelMessage[] = []
    for (const part of parts) {
      if (part.type === "text") {
        const text = cleanToModel(stripDirectives(part.text, part.grants))
        if (text.trim() !== "") pieces.push({ type: "text", text })
      }
      if (part.type === "tool_call" && (isCurrent || !part.call.ephemeral)) {
        const { call_id, name, args } = part.call
        pieces.push({ type: "tool_call", call_id, name, args })
        results.push(callToResultMessage(part.call, isCurrent))
      } else if (part.type === "tool_call" && part.call.media.length > 0) {
        pieces.push({ type: "text", text: formatMediaNotes(part.call) })
      }
    }
    if (pieces.length > 0) messages.push({ role: "assistant", parts: pieces }, ...results)
  }
  return messages
}

/** A person's words as they are; those of another agent say whose they are. */
function questionText({ words, agent }: Message): string {
  if (agent === null) return hasAgentHeader(words) ? `${formatUserHeader()}\n\n${words}` : words
  const head = agent.call_id === undefined ? formatAgentQuestionHeader(agent.name) : formatAgentAnswerHeader(agent.name)
  return `${head}\n\n${cleanToModel(words)}`
}

/**
 * This turn so far in at most so many tokens: its results lose their tails first, then what the model itself wrote into
 * its calls, which it knows. Null where even that does not fit.
 */
function fitTurn(messages: readonly ModelMessage[], maxTokens: number): readonly ModelMessage[] | null {
  const isResult = (message: ModelMessage): boolean => message.role === "tool"
  const otherTokens = estimateMessageTokens(messages.filter((message) => !isResult(message)))
  const fitted = fitResults(messages, maxTokens - otherTokens)
  if (estimateMessageTokens(fitted) <= maxTokens) return fitted
  const shortened = fitted.map((message) =>
    message.role === "assistant" ? { ...message, pieces: message.parts.map(shortenArgs) } : message,
  )
  return estimateMessageTokens(shortened) <= maxTokens ? shortened : null
}

/** Arguments longer than this are told by their length where the turn would not fit otherwise, in UTF-16 code units. */
const SHORT_ARGS_CHARS = 400

function shortenArgs(piece: AssistantPart): AssistantPart {
  if (piece.type === "text" || piece.args.length <= SHORT_ARGS_CHARS) return piece
  return { ...piece, args: JSON.stringify({ left_out: `${piece.args.length} characters` }) }
}

/** Results may fill so many tokens and no more: the longest lose their tail, never their trailer. */
export function fitResults(messages: readonly ModelMessage[], maxTokens: number): ModelMessage[] {
  const results = messages.filter((message) => message.role === "tool")
  if (estimateMessageTokens(results) <= maxTokens) return [...messages]
  const tokensPerResult = Math.max(Math.floor(maxTokens / results.length) - TRUNCATION_NOTE_TOKENS, 0)
  return messages.map((message) => {
    if (message.role !== "tool" || estimateTokens(message.result) <= tokensPerResult + TRUNCATION_NOTE_TOKENS)
      return message
    const { head, trailer } = splitResult(message.result)
    const kept = truncateToTokens(head, Math.max(tokensPerResult - estimateTokens(trailer), 0))
    const note = `[${head.length - kept.length} more characters are left out here]`
    return { ...message, result: [`${kept}\n${note}`, trailer].filter((text) => text !== "").join("\n\n") }
  })
}

/** What the note about a cut costs at most. */
const TRUNCATION_NOTE_TOKENS = 20

/** The files that a call gave to the reply. */
function formatMediaNotes({ media }: ToolCall): string {
  return media.map(assetToNote).join("\n")
}

/** Its trailer, which named them, is gone by then. */
function appendMediaNotes(data: string, call: ToolCall): string {
  return call.media.length === 0 ? data : `${data}\n\n${formatMediaNotes(call)}`
}

function callToResultMessage(call: ToolCall, isCurrent: boolean): ModelMessage {
  const { call_id, name, status, error } = call
  const whole = call.result ?? JSON.stringify({ error: error?.message ?? "No result." })
  const result = isCurrent ? whole : appendMediaNotes(extractResultData({ ...call, result: whole }), call)
  return { role: "tool", call_id, name, result, ok: status === "ok" || isDeferred(call) }
}
