/**
 * scripted-model.ts: the offline model. It is deterministic, and stateless between calls.
 *
 * It understands questions about the weather (intent.ts), calls the tool once per place, and places each card by the
 * tag in the tool's result (weather-prose.ts). Anything else gets a prepared answer (showcase.ts). For tests and
 * benchmarks it also accepts these commands, where <text> may be a JSON string literal:
 *   /say <text>          answers with exactly that text
 *   /think <text>        thinks exactly that text, then answers "Done."
 *   /call <tool> <args>  calls that tool with that JSON text, then describes the result
 *   /script <JSON>       replays one list of model events per model call (replay-model.ts)
 *   /fault <reason>      ends the call with that fault (a TurnFault), after the text "So far."
 *   /bench …             see bench-model.ts
 */

import type { TurnFault } from "../../../shared/fault.ts"
import { parseJson } from "../../../shared/json.ts"
import { cutText } from "../../../shared/text/cut-text.ts"
import type { TokenCounts } from "../../../shared/usage/call-usage.ts"
import type { Model, ModelEvent, ModelFile, ModelMessage, ModelRequest, ToolSpec } from "../model-adapter.ts"
import { joinWords, writeAnswer, type CallOutcome } from "./weather-prose.ts"
import { type Intent, parseIntent } from "./intent.ts"
import { parseBenchPlan, streamBenchStep } from "./bench-model.ts"
import { ALL_FILE_KINDS } from "../model-files.ts"
import { estimateMessageTokens, estimatePromptTokens } from "../token-estimate.ts"
import type { Env } from "../../env.ts"
import { pause } from "../../platform/pause.ts"
import { describeFile } from "../system-prompt.ts"
import { streamScriptStep, parseScript } from "./replay-model.ts"
import {
  summarizeAgentAnswer,
  planAgentQuestion,
  writeFindings,
  isResearcher,
  planNextLookUp,
  type TurnText,
  parseAgentHeader,
} from "./scripted-agents.ts"
import { planMediaCall, describeMediaResults } from "./scripted-media.ts"
import { describeSearch, planSearch } from "./scripted-search.ts"
import { planToolRequest } from "./scripted-tools.ts"
import { writeFollowUps, writeTitle } from "./scripted-title.ts"
import { skipShownText, splitContinuation } from "./scripted-continuation.ts"
import { getScriptedResponse } from "./showcase.ts"

/** Default pause between two tokens, in milliseconds: a comfortable reading pace. */
const DELAY_MS = 18
/** Maximum time of one model call, in milliseconds. A longer text is streamed with fewer pauses. */
const MAX_STREAM_MS = 4_000
/** Maximum number of tokens between two pauses, so that other work on this thread can run. */
const MAX_TOKENS_PER_PAUSE = 256

export function createScriptedModel(env: Pick<Env, "SCRIPTED_DELAY_MS"> = {}): Model {
  const delayMs = parseDelayMs(env.SCRIPTED_DELAY_MS)
  return {
    name: "scripted",
    provider: "scripted",
    // The model only lists the files, and reads none of them.
    fileKinds: ALL_FILE_KINDS,
    stream(request: ModelRequest) {
      const { purpose, system, tools, signal } = request
      const { messages, shown } = splitContinuation(request.messages)
      const countInput = (): InputCounts => countScriptedInput(request)
      if (purpose === "summary")
        return streamTokens([createTextEvent(summarizeQuestions(messages.slice(0, -1)))], 0, signal, countInput)
      if (purpose === "follow_ups")
        return streamTokens([createTextEvent(writeFollowUps(messages))], 0, signal, countInput)
      if (purpose === "title") return streamTokens([createTextEvent(writeTitle(messages))], 0, signal, countInput)
      const turn = readTurn(messages)
      const script = /^\/script\s+([\s\S]+)$/.exec(turn.question)?.[1]
      const scripted = script === undefined ? null : parseScript(script)
      if (scripted?.ok === true) return streamScriptStep(scripted.value, messages, delayMs, signal)
      const bench = parseBenchPlan(turn.question)
      return bench === null
        ? streamTokens(skipShownText(planEvents(turn, system, tools), shown), delayMs, signal, countInput)
        : streamBenchStep(bench, turn.outcomes.length, signal)
    },
  }
}

function parseDelayMs(text: string | undefined): number {
  const delay = Number(text ?? DELAY_MS)
  return Number.isFinite(delay) && delay >= 0 ? Math.min(delay, MAX_STREAM_MS) : DELAY_MS
}

/** The part of the current turn that the messages contain, and the questions before it. */
interface VisibleTurn {
  /** The agent that asked; null if the user asked. */
  readonly from: TurnText["from"]
  readonly question: string
  readonly questions: readonly string[]
  /** Files attached to the question. */
  readonly files: readonly ModelFile[]
  readonly outcomes: readonly CallOutcome[]
}

function readTurn(messages: readonly ModelMessage[]): VisibleTurn {
  const userTexts = messages.flatMap((message) => (message.role === "user" ? [parseAgentHeader(message.content)] : []))
  const questions = userTexts.map(({ text }) => text)
  const last = messages.findLastIndex((message) => message.role === "user")
  const lastUserMessage = messages[last]
  const files = lastUserMessage?.role === "user" ? (lastUserMessage.files ?? []) : []
  const newMessages = messages.slice(last + 1)
  const args = new Map<string, string>()
  const outcomes: CallOutcome[] = []
  for (const message of newMessages) {
    if (message.role === "assistant") {
      for (const part of message.parts) if (part.type === "tool_call") args.set(part.call_id, part.args)
    }
    if (message.role === "tool") {
      outcomes.push({ name: message.name, args: args.get(message.call_id) ?? "{}", result: message.result })
    }
  }
  return { question: questions.at(-1) ?? "", from: userTexts.at(-1)?.from ?? null, questions, files, outcomes }
}

/** Returns the events of the next model call. `streamTokens` splits their text. */
function planEvents(turn: VisibleTurn, system: string, tools: readonly ToolSpec[]): readonly ModelEvent[] {
  const { from, question, outcomes } = turn
  if (from?.kind === "answers") return summarizeAgentAnswer(from.name, question)
  const isFirst = outcomes.length === 0
  const direct = isFirst
    ? (parseCommand(question) ??
      planAgentQuestion(question, tools) ??
      planMediaCall(question, tools) ??
      planSearch(question, tools) ??
      planToolRequest(question, tools))
    : null
  if (direct !== null) return direct
  const title = isFirst ? parseTitleRequest(question) : null
  if (title !== null)
    return [createTextEvent("I need your OK first."), createCallEvent("rename_conversation", JSON.stringify({ title }))]
  const intent = parseIntent(turn.questions)
  const isTomorrow = intent.kind === "weather" && intent.isTomorrow
  if (isResearcher(system) && intent.kind === "weather") {
    return planNextLookUp(intent, outcomes.length) ?? writeFindings(writeAnswer(outcomes, isTomorrow))
  }
  if (!isFirst)
    return [
      createTextEvent(describeMediaResults(outcomes) ?? describeSearch(outcomes) ?? writeAnswer(outcomes, isTomorrow)),
    ]
  const fileEvents = turn.files.length === 0 ? [] : [createTextEvent(`${describeFiles(turn.files)}\n\n`)]
  if (intent.kind === "weather") return [...fileEvents, ...planWeatherCalls(intent)]
  if (fileEvents.length > 0 && question.trim() === "") return [createTextEvent(describeFiles(turn.files))]
  const response = getScriptedResponse(intent.kind)
  return [createThinkingEvent(response.thinking), ...fileEvents, createTextEvent(response.text)]
}

/** Lists the files of a message, and says that this model can't open them. */
function describeFiles(files: readonly ModelFile[]): string {
  const fileLines = files.map(({ asset, inclusion }) => {
    const note = inclusion === "left_out" ? ", omitted because it didn't fit" : ""
    return `- \`${describeFile(asset).replace(/`/g, "'")}\`${note}`
  })
  const these = files.length === 1 ? "this file" : `these ${files.length} files`
  return [`You sent me ${these}:`, "", ...fileLines, "", "I work offline, so I can't open files."].join("\n")
}

/** Parses "Rename this conversation to …". */
function parseTitleRequest(question: string): string | null {
  const pattern = /^(?:please )?(?:rename|call) (?:this|the) (?:chat|conversation)(?: to)? (\S.{0,119})$/i
  const title = pattern.exec(question.trim())?.[1]?.replace(/^["'“]|["'”]?[.!]?$/g, "")
  return title === undefined || title === "" ? null : title
}

function planWeatherCalls({ places, isTomorrow }: Extract<Intent, { kind: "weather" }>): readonly ModelEvent[] {
  const names = joinWords(places)
  const what = isTomorrow ? `tomorrow's weather in ${names}` : `the weather in ${names}`
  const how = places.length === 1 ? "I'll look it up." : "The calls are independent, so I'll make them together."
  return [
    createThinkingEvent(
      `The user asks about ${what}. I shouldn't guess, because the weather tool has the data. ${how}`,
    ),
    createTextEvent(`Let me check ${names}.`),
    ...places.map((location) => createCallEvent("weather", JSON.stringify({ location }))),
  ]
}

const MODEL_FAULTS: ReadonlySet<string> = new Set<TurnFault>([
  ...(["model_unreachable", "model_refused", "model_rate_limited"] as const),
  ...(["model_malformed", "model_timeout", "model_cut_off"] as const),
])

/** Returns the events of a command that the file header lists. Returns null if the message is not a command. */
function parseCommand(question: string): readonly ModelEvent[] | null {
  const command = /^\/(say|think|call|fault)(?:\s([\s\S]*))?$/.exec(question)
  const rest = command?.[2] ?? ""
  switch (command?.[1]) {
    case "say":
      return [createTextEvent(parseQuotedText(rest))]
    case "think":
      return [createThinkingEvent(parseQuotedText(rest)), createTextEvent("Done.")]
    case "call": {
      const [name = "", ...args] = rest.trim().split(" ")
      return [createCallEvent(name, args.join(" "))]
    }
    case "fault":
      return [
        createTextEvent("So far."),
        { type: "fault", fault: isModelFault(rest) ? rest : "model_malformed", detail: "asked for" },
      ]
    default:
      return null
  }
}

function isModelFault(reason: string): reason is TurnFault {
  return MODEL_FAULTS.has(reason)
}

/** Returns the value of a JSON string literal, or the text itself if it is not one. */
function parseQuotedText(text: string): string {
  const value = text.startsWith('"') ? parseJson(text.trim()) : undefined
  return typeof value === "string" ? value : text
}

function createTextEvent(delta: string): ModelEvent {
  return { type: "text_delta", delta }
}

function createThinkingEvent(delta: string): ModelEvent {
  return { type: "thinking_delta", delta }
}

function createCallEvent(name: string, args: string): ModelEvent {
  return { type: "tool_call", name, args }
}

/** Maximum length of one question in a summary, in characters. */
const MAX_SUMMARY_LINE_CHARS = 80

const SUMMARY_HEAD = "What was asked earlier:"
/** Maximum number of lines of a summary. */
const MAX_SUMMARY_LINES = 60

/** Returns a summary that lists the user's questions in order, including questions from an earlier summary. */
function summarizeQuestions(messages: readonly ModelMessage[]): string {
  const summaryLines = messages.flatMap((message) => {
    if (message.role !== "user") return []
    const [head, ...lines] = message.content.split("\n")
    return head === SUMMARY_HEAD ? lines : [`- ${shortenQuestion(message.content)}`]
  })
  return [SUMMARY_HEAD, ...summaryLines.slice(-MAX_SUMMARY_LINES)].join("\n")
}

function shortenQuestion(text: string): string {
  const line = text.trim().replace(/\s+/g, " ")
  return line.length <= MAX_SUMMARY_LINE_CHARS ? line : `${cutText(line, MAX_SUMMARY_LINE_CHARS - 1)}…`
}

/** Streams events within about MAX_STREAM_MS, with text split into tokens. On an abort, throws the signal's reason. */
async function* streamTokens(
  script: readonly ModelEvent[],
  delayMs: number,
  signal: AbortSignal,
  countInput: () => InputCounts,
): AsyncGenerator<ModelEvent> {
  const events = script.flatMap(splitIntoTokens)
  const tokensPerPause =
    delayMs === 0 ? MAX_TOKENS_PER_PAUSE : Math.max(1, Math.ceil((events.length * delayMs) / MAX_STREAM_MS))
  let tokenCount = 0
  for (const event of events) {
    signal.throwIfAborted()
    yield event
    tokenCount += 1
    if (tokenCount % tokensPerPause === 0) await pause(delayMs, signal)
  }
  if (events.at(-1)?.type === "fault") return
  const reasoning = events.filter(({ type }) => type === "thinking_delta").length
  yield { type: "usage", tokens: { ...countInput(), output: tokenCount, reasoning } }
  yield { type: "finish" }
}

type InputCounts = Pick<TokenCounts, "input" | "cached" | "cacheWritten">

/** A provider's cache holds whole blocks of this many tokens, and only for prompts of at least MIN_CACHED_TOKENS. */
const CACHE_BLOCK_TOKENS = 128
const MIN_CACHED_TOKENS = 1_024

/**
 * Returns the input as a provider would count it: all but the newest message was in an earlier call, so it is in the
 * cache.
 */
function countScriptedInput({ system, messages, tools }: ModelRequest): InputCounts {
  const prompt = estimatePromptTokens(
    system,
    tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
  )
  const earlier = prompt + estimateMessageTokens(messages.slice(0, -1))
  const isCached = messages.length > 1 && earlier >= MIN_CACHED_TOKENS
  const cached = isCached ? earlier - (earlier % CACHE_BLOCK_TOKENS) : 0
  return { input: earlier + estimateMessageTokens(messages.slice(-1)), cached, cacheWritten: 0 }
}

/** Matches a word with the whitespace before it, or part of a very long word. */
const TOKEN = /\s{1,16}\S{0,16}|\S{1,16}/gu

function splitIntoTokens(event: ModelEvent): ModelEvent[] {
  if (event.type !== "text_delta" && event.type !== "thinking_delta") return [event]
  return Array.from(event.delta.matchAll(TOKEN), ([delta]) => ({ ...event, delta }))
}
