/**
 * model-context.ts: builds the input of a model call, which consists of a summary, the newest whole turns that fit, and
 * the current turn.
 *
 * past turns → CONTEXT → model
 * A tool call is never separated from its result. Files are included if they fit into the limits of tokens and bytes.
 */

import { MAX_FILES_SHARE, MAX_MODEL_FILE_BYTES } from "../../shared/limits.ts"
import { splitResult } from "../../shared/protocol/card-cue.ts"
import type { Message, Summary } from "../../shared/protocol/message.ts"
import type { AssistantPart, ModelMessage, ToolSpec } from "../model/model-adapter.ts"
import { type FileKinds, includeFiles } from "../model/model-files.ts"
import {
  estimateMessageTokens,
  estimatePromptTokens,
  estimateTokens,
  truncateToTokens,
} from "../model/token-estimate.ts"
import type { StepState } from "../store/model/provider-state-rows.ts"
import { answerToModelMessages, type PastTurn, type PastTurns } from "./past-turns.ts"

export interface ContextRequest {
  /** The answer of the current turn so far. */
  readonly current: Message
  /** Position of the current turn's question. */
  readonly parent: number | null
  readonly past: PastTurns
  readonly system: string
  readonly tools: readonly ToolSpec[]
  /** Token budget of the whole call. */
  readonly tokens: number
  /** The provider's states of the current turn's steps. */
  readonly states?: readonly StepState[]
  /** Kinds of files that the model accepts. Other files are only mentioned. */
  readonly fileKinds?: FileKinds
}

const NO_FILES: FileKinds = new Set()

/** The line before a summary in the system prompt. */
const SUMMARY_HEAD = "Summary of the earlier part of this conversation (the messages themselves are omitted):"

export interface ModelContext {
  readonly system: string
  /** Oldest first. */
  readonly messages: readonly ModelMessage[]
}

/**
 * Builds the context of a turn's next model call, in at most `tokens` including prompt and tools (SPEC TU6, TU9).
 *
 * Returns null if the current turn alone doesn't fit, even with shortened results and arguments.
 * Reads whole turns, newest first, up to a summary or the budget, so the cost doesn't grow with the session.
 */
export function buildContext(request: ContextRequest): ModelContext | null {
  const { current, parent, past, system, tools, fileKinds = NO_FILES } = request
  const turns = past(parent)
  // The question of the current turn is always included.
  const question = turns.next().value?.messages ?? []
  const tokensLeft =
    request.tokens -
    estimatePromptTokens(system, tools) -
    estimateMessageTokens(question) -
    countSummaryTokens(current.summary)
  const turn = fitCurrentTurn(question, answerToModelMessages(current, true, request.states), tokensLeft, fileKinds)
  if (turn === null) return null
  const older = selectOlderTurns(turns, current.summary, turn.tokensLeft)
  // The files of older turns share the remaining budget.
  const olderWithFiles = includeFiles(older.messages, {
    fileKinds,
    tokens: older.tokensLeft,
    bytes: turn.fileBytesLeft,
  })
  const { summary } = older
  return {
    system: summary === null ? system : `${system}\n\n${SUMMARY_HEAD}\n${summary.text}`,
    messages: [...olderWithFiles.messages, ...turn.messages],
  }
}

function countSummaryTokens(summary: Summary | null): number {
  return summary === null ? 0 : estimateTokens(SUMMARY_HEAD) + estimateTokens(summary.text) + 1
}

interface FittedTurn {
  readonly messages: readonly ModelMessage[]
  readonly tokensLeft: number
  readonly fileBytesLeft: number
}

/**
 * Returns the question with its files, and the answer so far. If the files leave too few tokens for the answer, they
 * are dropped and only mentioned. `tokensLeft` does not include the plain question. Returns null if the answer doesn't
 * fit even without files.
 */
function fitCurrentTurn(
  question: readonly ModelMessage[],
  answer: readonly ModelMessage[],
  tokensLeft: number,
  fileKinds: FileKinds,
): FittedTurn | null {
  const withFiles = includeFiles(question, {
    fileKinds,
    tokens: Math.floor(tokensLeft * MAX_FILES_SHARE),
    bytes: MAX_MODEL_FILE_BYTES,
  })
  const fileBytesLeft = withFiles.remainingBudget.bytes
  const candidates = [
    {
      question: withFiles.messages,
      tokens: tokensLeft + estimateMessageTokens(question) - estimateMessageTokens(withFiles.messages),
    },
    { question, tokens: tokensLeft },
  ]
  for (const candidate of candidates) {
    const fitted = fitTurn(answer, candidate.tokens)
    if (fitted === null) continue
    const messages = [...candidate.question, ...fitted]
    return { messages, tokensLeft: candidate.tokens - estimateMessageTokens(fitted), fileBytesLeft }
  }
  return null
}

interface OlderTurns {
  /** Oldest first. */
  readonly messages: readonly ModelMessage[]
  readonly summary: Summary | null
  readonly tokensLeft: number
}

/** Returns the newest whole turns that fit, up to the newest summary. */
function selectOlderTurns(turns: Iterable<PastTurn>, currentSummary: Summary | null, maxTokens: number): OlderTurns {
  const selected: (readonly ModelMessage[])[] = []
  let summary = currentSummary
  let tokensLeft = maxTokens
  for (const turn of turns) {
    if (summary !== null && turn.newestPos <= summary.upto) break
    const newSummary = summary === null ? turn.summary : null
    const cost = turn.tokens + countSummaryTokens(newSummary)
    if (cost > tokensLeft) break
    tokensLeft -= cost
    selected.push(turn.messages)
    summary ??= newSummary
  }
  return { messages: selected.reverse().flat(), summary, tokensLeft }
}

/**
 * Returns the current turn in at most `maxTokens`. First, results are cut at the end; then calls lose their arguments,
 * which the model wrote itself. Returns null if the turn still doesn't fit.
 */
function fitTurn(messages: readonly ModelMessage[], maxTokens: number): readonly ModelMessage[] | null {
  const otherTokens = estimateMessageTokens(messages.filter((message) => message.role !== "tool"))
  const fitted = fitResults(messages, maxTokens - otherTokens)
  if (estimateMessageTokens(fitted) <= maxTokens) return fitted
  const shortened = fitted.map((message) =>
    message.role === "assistant" ? { ...message, parts: message.parts.map(shortenArgs) } : message,
  )
  return estimateMessageTokens(shortened) <= maxTokens ? shortened : null
}

/** In UTF-16 code units. If the turn doesn't fit otherwise, longer arguments are replaced by their length. */
const SHORT_ARGS_CHARS = 400

function shortenArgs(part: AssistantPart): AssistantPart {
  if (part.type === "text" || part.args.length <= SHORT_ARGS_CHARS) return part
  return { ...part, args: JSON.stringify({ left_out: `${part.args.length} characters` }) }
}

/**
 * Shortens results so that together they have at most `maxTokens`. The longest are cut at the end of their data;
 * trailers are kept.
 */
export function fitResults(messages: readonly ModelMessage[], maxTokens: number): ModelMessage[] {
  const results = messages.filter((message) => message.role === "tool")
  if (estimateMessageTokens(results) <= maxTokens) return [...messages]
  const tokensPerResult = Math.max(Math.floor(maxTokens / results.length) - CUT_NOTE_TOKENS, 0)
  return messages.map((message) => {
    if (message.role !== "tool" || estimateTokens(message.result) <= tokensPerResult + CUT_NOTE_TOKENS) return message
    const { head, trailer } = splitResult(message.result)
    const shortened = truncateToTokens(head, Math.max(tokensPerResult - estimateTokens(trailer), 0))
    const note = `[${head.length - shortened.length} more characters omitted]`
    return { ...message, result: [`${shortened}\n${note}`, trailer].filter((text) => text !== "").join("\n\n") }
  })
}

/** Upper bound for the tokens of the note about omitted text. */
const CUT_NOTE_TOKENS = 20
