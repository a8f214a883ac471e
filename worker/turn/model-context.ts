/**
 * model-context.ts: what goes to the model: a summary of what is older, the newest whole turns that fit, and this turn so far.
 *
 * store → CONTEXT → model
 * Older turns go back without spans, directives, trailers and escapes, with a note for each file that was attached;
 * this turn's tool results go verbatim, trailer and all, since the model reads its tags there. A tool's call and result
 * are never parted.
 */

import { cleanToModel } from "../../shared/sanitize/clean.ts"
import { resultData, splitResult } from "../../shared/protocol/card-cue.ts"
import { FILES_SHARE, MAX_MODEL_FILE_BYTES } from "../../shared/limits.ts"
import { callsOf, isDeferred, type Message, type Summary, type ToolCall } from "../../shared/protocol/message.ts"
import { noteOf, stripDirectives } from "../../shared/segment/strip-spans.ts"
import { agentAnswers, agentAsks, isAgentHead, userWrites } from "../model/system-prompt.ts"
import type { AssistantPiece, ModelMessage, ToolSpec } from "../model/model-adapter.ts"
import { giveFiles, type Takes } from "../model/model-files.ts"
import { headOfTokens, tokensOf, tokensOfFrame, tokensOfMessages } from "../model/token-estimate.ts"
import type { QuoteOf } from "./reply-quote.ts"
import type { StoredMessage } from "../store/row-codec.ts"

export type LookUp = (pos: number) => StoredMessage | null

/** A whole turn of the active path: a person's words and the answer to them. */
export interface PastTurn {
  /** Position of its newest message. */
  readonly newest: number
  readonly messages: readonly ModelMessage[]
  readonly tokens: number
  /** What it was told instead of all before it, if it was. */
  readonly summary: Summary | null
}

/** The turns that end at a position, newest first; asked from an answer, the first is this turn's own question. */
export type Past = (parent: number | null) => Generator<PastTurn>

/**
 * Reads turns, one at a time, and keeps those that it read: what has ended changes no more.
 *
 * Cost    the rows of each turn, once while the object lives; at most twice `maxTokens` are kept.
 */
export function createPast(at: LookUp, maxTokens: number, quoteOf: QuoteOf = () => null): Past {
  const known = new Map<number, KnownTurn>()
  let tokens = 0
  const keep = (found: KnownTurn): void => {
    known.set(found.turn.newest, found)
    tokens += found.turn.tokens
    if (tokens <= 2 * maxTokens) return
    // The oldest go, down to what one walk may read: so this happens seldom, and never to what is in use.
    for (const newest of [...known.keys()].sort((a, b) => a - b)) {
      if (tokens <= maxTokens) return
      tokens -= known.get(newest)?.turn.tokens ?? 0
      known.delete(newest)
    }
  }
  return function* past(parent) {
    for (let newest = parent; newest !== null; ) {
      const kept = known.get(newest)
      const found = kept ?? readTurn(newest, at, quoteOf)
      if (found === null) return
      // What waits for its true result changes yet.
      if (kept === undefined && !found.isOpen) keep(found)
      yield found.turn
      newest = found.before
    }
  }
}

interface KnownTurn {
  readonly turn: PastTurn
  /** Where the turn before it ends. */
  readonly before: number | null
  readonly isOpen: boolean
}

function readTurn(newest: number, at: LookUp, quoteOf: QuoteOf): KnownTurn | null {
  let messages: ModelMessage[] = []
  let summary: Summary | null = null
  let isOpen = false
  for (let pos: number | null = newest; pos !== null; ) {
    const stored: StoredMessage | null = at(pos)
    if (stored === null) return null
    const { message } = stored
    messages = [...(message.role === "assistant" ? messagesOf(message, false) : [asked(message, quoteOf)]), ...messages]
    summary ??= message.summary
    isOpen ||= callsOf(message).some(isDeferred)
    pos = stored.parent
    // What came from outside answered nobody: it is a turn by itself, so that many of them do not become one.
    if (message.role === "assistant" && message.mode !== "external" && pos !== null) continue
    return { turn: { newest, messages, tokens: tokensOfMessages(messages), summary }, before: pos, isOpen }
  }
  return null
}

export interface ContextRequest {
  /** This turn's answer so far, and the position of its question. */
  readonly current: Message
  readonly parent: number | null
  readonly past: Past
  readonly system: string
  readonly tools: readonly ToolSpec[]
  /** All that goes into one call. */
  readonly tokens: number
  /** Files that the model can be given; others are told. */
  readonly takes?: Takes
}

const NO_FILES: Takes = new Set()

/** Words before a summary in the system prompt. */
const SUMMARY_HEAD = "Earlier in this conversation, in short (the messages themselves are left out here):"

export interface Context {
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
export function contextFor(request: ContextRequest): Context | null {
  const { current, parent, past, system, tools, takes = NO_FILES } = request
  const turns = past(parent)
  // This turn's own question always goes along.
  const bare = turns.next().value?.messages ?? []
  let { summary } = current
  let room = request.tokens - tokensOfFrame(system, tools) - tokensOfMessages(bare) - tokensOfSummary(summary)
  const said = messagesOf(current, true)
  const own = giveFiles(bare, { takes, tokens: Math.floor(room * FILES_SHARE), bytes: MAX_MODEL_FILE_BYTES })
  const rest = room + tokensOfMessages(bare) - tokensOfMessages(own.messages)
  // What its files leave may be too little for what it has grown to: then they are only told.
  const beside = fitTurn(said, rest)
  const now = beside ?? fitTurn(said, room)
  if (now === null) return null
  const question = beside === null ? bare : own.messages
  room = (beside === null ? room : rest) - tokensOfMessages(now)
  const older: (readonly ModelMessage[])[] = []
  for (const turn of turns) {
    if (summary !== null && turn.newest <= summary.upto) break
    const fresh = summary === null ? turn.summary : null
    const cost = turn.tokens + tokensOfSummary(fresh)
    if (cost > room) break
    room -= cost
    older.push(turn.messages)
    summary ??= fresh
  }
  const told = summary === null ? system : `${system}\n\n${SUMMARY_HEAD}\n${summary.text}`
  // What is left is for the files of those.
  const before = giveFiles(older.reverse().flat(), { takes, tokens: room, bytes: own.room.bytes })
  return { system: told, messages: [...before.messages, ...question, ...now] }
}

function tokensOfSummary(summary: Summary | null): number {
  return summary === null ? 0 : tokensOf(SUMMARY_HEAD) + tokensOf(summary.text) + 1
}

/** What somebody said to the model, and what that replies to. */
function asked(message: Message, quoteOf: QuoteOf): ModelMessage {
  const quote = message.reply_to === null ? null : quoteOf(message.reply_to)
  const files = message.attachments.map((asset) => ({ asset, given: "left_out" as const }))
  const beside = { ...(quote === null ? {} : { quote }), ...(files.length === 0 ? {} : { files }) }
  return { role: "user", content: wordsFor(message), ...beside }
}

function messagesOf(message: Message, isCurrent: boolean): ModelMessage[] {
  const messages: ModelMessage[] = []
  const steps = Map.groupBy(message.parts, (part) => part.step)
  for (const parts of steps.values()) {
    const pieces: AssistantPiece[] = []
    const results: ModelMessage[] = []
    for (const part of parts) {
      if (part.type === "text") {
        const text = cleanToModel(stripDirectives(part.text, part.grants))
        if (text.trim() !== "") pieces.push({ type: "text", text })
      }
      if (part.type === "tool_call" && (isCurrent || !part.call.ephemeral)) {
        const { call_id, name, args } = part.call
        pieces.push({ type: "tool_call", call_id, name, args })
        results.push(resultMessage(part.call, isCurrent))
      } else if (part.type === "tool_call" && part.call.media.length > 0) {
        pieces.push({ type: "text", text: notesOf(part.call) })
      }
    }
    if (pieces.length > 0) messages.push({ role: "assistant", pieces }, ...results)
  }
  return messages
}

/** A person's words as they are; those of another agent say whose they are. */
function wordsFor({ words, agent }: Message): string {
  if (agent === null) return isAgentHead(words) ? `${userWrites()}\n\n${words}` : words
  const head = agent.call_id === undefined ? agentAsks(agent.name) : agentAnswers(agent.name)
  return `${head}\n\n${cleanToModel(words)}`
}

/**
 * This turn so far in at most so many tokens: its results lose their tails first, then what the model itself wrote into
 * its calls, which it knows. Null where even that does not fit.
 */
function fitTurn(messages: readonly ModelMessage[], room: number): readonly ModelMessage[] | null {
  const isResult = (message: ModelMessage): boolean => message.role === "tool"
  const said = tokensOfMessages(messages.filter((message) => !isResult(message)))
  const fitted = fitResults(messages, room - said)
  if (tokensOfMessages(fitted) <= room) return fitted
  const short = fitted.map((message) =>
    message.role === "assistant" ? { ...message, pieces: message.pieces.map(shortArgs) } : message,
  )
  return tokensOfMessages(short) <= room ? short : null
}

/** Arguments longer than this are told by their length where the turn would not fit otherwise, in UTF-16 code units. */
const SHORT_ARGS_CHARS = 400

function shortArgs(piece: AssistantPiece): AssistantPiece {
  if (piece.type === "text" || piece.args.length <= SHORT_ARGS_CHARS) return piece
  return { ...piece, args: JSON.stringify({ left_out: `${piece.args.length} characters` }) }
}

/** Results may fill so many tokens and no more: the longest lose their tail, never their trailer. */
export function fitResults(messages: readonly ModelMessage[], room: number): ModelMessage[] {
  const results = messages.filter((message) => message.role === "tool")
  if (tokensOfMessages(results) <= room) return [...messages]
  const each = Math.max(Math.floor(room / results.length) - NOTE_TOKENS, 0)
  return messages.map((message) => {
    if (message.role !== "tool" || tokensOf(message.result) <= each + NOTE_TOKENS) return message
    const { head, trailer } = splitResult(message.result)
    const kept = headOfTokens(head, Math.max(each - tokensOf(trailer), 0))
    const note = `[${head.length - kept.length} more characters are left out here]`
    return { ...message, result: [`${kept}\n${note}`, trailer].filter((text) => text !== "").join("\n\n") }
  })
}

/** What the note about a cut costs at most. */
const NOTE_TOKENS = 20

/** The files that a call gave to the reply. */
function notesOf({ media }: ToolCall): string {
  return media.map(noteOf).join("\n")
}

/** Its trailer, which named them, is gone by then. */
function withNotes(data: string, call: ToolCall): string {
  return call.media.length === 0 ? data : `${data}\n\n${notesOf(call)}`
}

function resultMessage(call: ToolCall, isCurrent: boolean): ModelMessage {
  const { call_id, name, status, error } = call
  const whole = call.result ?? JSON.stringify({ error: error?.message ?? "No result." })
  const result = isCurrent ? whole : withNotes(resultData({ ...call, result: whole }), call)
  return { role: "tool", call_id, name, result, ok: status === "ok" || isDeferred(call) }
}
