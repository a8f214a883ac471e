/**
 * scripted-model.ts: the offline model: deterministic, honest, and stateless between calls.
 *
 * messages → SCRIPT → a stream of events, word by word
 * It understands questions about the weather (ask.ts), calls the tool once per place, and places each card by the tag
 * that it reads in the tool's result (answer.ts). Anything else gets helpful prose (showcase.ts).
 *
 * For tests and benches it also obeys messages of these forms:
 *   /say <text>          answers exactly that text; a JSON string literal ("…\n…") is taken apart first
 *   /think <text>        thinks exactly that text (or JSON string), then says "Done."
 *   /call <tool> <args>  calls that tool with that JSON text, then tells what came back
 *   /script <JSON>       one list of model events per model call (replay.ts)
 *   /fault <reason>      ends the call with that fault (a TurnFault), after the words "So far."
 *   /bench …             see bench.ts
 */

import type { TurnFault } from "../../../shared/fault.ts"
import { parseJson } from "../../../shared/protocol/frame.ts"
import type { Model, ModelEvent, ModelFile, ModelMessage, ModelRequest, ToolSpec } from "../model-adapter.ts"
import { answerTo, type Outcome } from "./weather-prose.ts"
import { type Ask, askOf } from "./intent.ts"
import { benchIn, benchStretch } from "./bench-model.ts"
import { ALL_KINDS } from "../model-files.ts"
import { pause } from "../../platform/pause.ts"
import { fileText } from "../system-prompt.ts"
import { playStep, scriptIn } from "./replay-model.ts"
import { answerFrom, askedAgentIn, findings, isResearcher, nextLookUp, type Words, wordsIn } from "./scripted-agents.ts"
import { madeFor, shownOf } from "./scripted-media.ts"
import { saidTo } from "./showcase.ts"

export interface ScriptedEnv {
  /** Pause between two tokens, in milliseconds; 0 in tests. */
  readonly SCRIPTED_DELAY_MS?: string
}

/** A pace that the eye likes to follow, in milliseconds per token. */
const DELAY_MS = 18
/** Longest time that one model call takes to speak; a longer text comes in larger helpings. */
const MAX_SPEECH_MS = 4_000
/** Tokens without a pause: then other work on this thread has its turn. */
const TOKENS_IN_A_ROW = 256

export function scriptedModel(env: ScriptedEnv = {}): Model {
  const delayMs = readDelay(env.SCRIPTED_DELAY_MS)
  return {
    name: "scripted",
    continues: false,
    // It says what it was given, and opens nothing.
    takes: ALL_KINDS,
    stream({ purpose, system, messages, tools, signal }: ModelRequest) {
      if (purpose === "summary") return speak([text(summaryOf(messages.slice(0, -1)))], 0, signal)
      const turn = turnIn(messages)
      const script = /^\/script\s+([\s\S]+)$/.exec(turn.question)?.[1]
      const scripted = script === undefined ? null : scriptIn(script)
      if (scripted?.ok === true) return playStep(scripted.value, messages, delayMs, signal)
      const bench = benchIn(turn.question)
      return bench === null
        ? speak(scriptFor(turn, system, tools), delayMs, signal)
        : benchStretch(bench, turn.outcomes.length, signal)
    },
  }
}

function readDelay(text: string | undefined): number {
  const delay = Number(text ?? DELAY_MS)
  return Number.isFinite(delay) && delay >= 0 ? Math.min(delay, MAX_SPEECH_MS) : DELAY_MS
}

/** What the model sees of a turn: the questions up to now, and what its calls in this turn brought. */
interface Turn {
  /** The agent that it came from; null: a person. */
  readonly from: Words["from"]
  readonly question: string
  readonly questions: readonly string[]
  /** What came with the question. */
  readonly files: readonly ModelFile[]
  readonly outcomes: readonly Outcome[]
}

function turnIn(messages: readonly ModelMessage[]): Turn {
  const asked = messages.flatMap((message) => (message.role === "user" ? [wordsIn(message.content)] : []))
  const questions = asked.map(({ text }) => text)
  const last = messages.findLastIndex((message) => message.role === "user")
  const asking = messages[last]
  const files = asking?.role === "user" ? (asking.files ?? []) : []
  const since = messages.slice(last + 1)
  const args = new Map<string, string>()
  const outcomes: Outcome[] = []
  for (const message of since) {
    if (message.role === "assistant") {
      for (const piece of message.pieces) if (piece.type === "tool_call") args.set(piece.call_id, piece.args)
    }
    if (message.role === "tool") {
      outcomes.push({ name: message.name, args: args.get(message.call_id) ?? "{}", result: message.result })
    }
  }
  return { question: questions.at(-1) ?? "", from: asked.at(-1)?.from ?? null, questions, files, outcomes }
}

/** What comes next, with whole texts: `speak` cuts them. */
function scriptFor(turn: Turn, system: string, tools: readonly ToolSpec[]): readonly ModelEvent[] {
  const { from, question, outcomes } = turn
  if (from?.kind === "answers") return answerFrom(from.name, question)
  const isFirst = outcomes.length === 0
  const ordered = isFirst ? (orderIn(question) ?? askedAgentIn(question, tools) ?? madeFor(question, tools)) : null
  if (ordered !== null) return ordered
  const title = isFirst ? titleIn(question) : null
  if (title !== null) return [text("I will ask you first."), call("rename_conversation", JSON.stringify({ title }))]
  const ask = askOf(turn.questions)
  const isTomorrow = ask.kind === "weather" && ask.isTomorrow
  if (isResearcher(system) && ask.kind === "weather") {
    return nextLookUp(ask, outcomes.length) ?? findings(answerTo(outcomes, isTomorrow))
  }
  if (!isFirst) return [text(shownOf(outcomes) ?? answerTo(outcomes, isTomorrow))]
  const seen = turn.files.length === 0 ? [] : [text(`${filesTold(turn.files)}\n\n`)]
  if (ask.kind === "weather") return [...seen, ...lookUp(ask)]
  if (seen.length > 0 && question.trim() === "") return [text(filesTold(turn.files))]
  const said = saidTo(ask.kind)
  return [thinking(said.thinking), ...seen, text(said.text)]
}

/** What came along, as it was told: this model can open none of it, and says so. */
function filesTold(files: readonly ModelFile[]): string {
  const named = files.map(({ asset, given }) => {
    const why = given === "left_out" ? ", left out since there was no room for it" : ""
    return `- \`${fileText(asset).replace(/`/g, "'")}\`${why}`
  })
  const these = files.length === 1 ? "this file" : `these ${files.length} files`
  return [`You sent me ${these}:`, "", ...named, "", "I work offline and cannot look inside."].join("\n")
}

/** "Rename this conversation to …". */
function titleIn(question: string): string | null {
  const wish = /^(?:please )?(?:rename|call) (?:this|the) (?:chat|conversation)(?: to)? (\S.{0,119})$/i
  const title = wish.exec(question.trim())?.[1]?.replace(/^["'“]|["'”]?[.!]?$/g, "")
  return title === undefined || title === "" ? null : title
}

function lookUp({ places, isTomorrow }: Extract<Ask, { kind: "weather" }>): readonly ModelEvent[] {
  const names = listOf(places)
  const what = isTomorrow ? `tomorrow's weather in ${names}` : `the weather in ${names}`
  const how =
    places.length === 1 ? "I will look it up." : "The calls do not depend on each other, so I will make them together."
  return [
    thinking(`The user asks about ${what}. I must not guess: the weather tool knows. ${how}`),
    text(`Let me check ${names}.`),
    ...places.map((location) => call("weather", JSON.stringify({ location }))),
  ]
}

const FAULTS: ReadonlySet<string> = new Set<TurnFault>([
  ...(["model_unreachable", "model_refused", "model_rate_limited"] as const),
  ...(["model_malformed", "model_timeout", "model_cut_off"] as const),
])

/** The commands of the header. Null: the message is none. */
function orderIn(question: string): readonly ModelEvent[] | null {
  const order = /^\/(say|think|call|fault)(?:\s([\s\S]*))?$/.exec(question)
  const rest = order?.[2] ?? ""
  switch (order?.[1]) {
    case "say":
      return [text(unquoted(rest))]
    case "think":
      return [thinking(unquoted(rest)), text("Done.")]
    case "call": {
      const [name = "", ...args] = rest.trim().split(" ")
      return [call(name, args.join(" "))]
    }
    case "fault":
      return [text("So far."), { type: "fault", fault: isFault(rest) ? rest : "model_malformed", detail: "asked for" }]
    default:
      return null
  }
}

function isFault(reason: string): reason is TurnFault {
  return FAULTS.has(reason)
}

/** The text of a JSON string literal, else the words themselves. */
function unquoted(words: string): string {
  const value = words.startsWith('"') ? parseJson(words.trim()) : undefined
  return typeof value === "string" ? value : words
}

function text(delta: string): ModelEvent {
  return { type: "text_delta", delta }
}

function thinking(delta: string): ModelEvent {
  return { type: "thinking_delta", delta }
}

function call(name: string, args: string): ModelEvent {
  return { type: "tool_call", name, args }
}

/** Longest share of one message in a summary, in characters. */
const MAX_GIST_CHARS = 80

const SUMMARY_HEAD = "What was asked earlier:"
/** Most lines of a summary. */
const MAX_GISTS = 60

/** What was asked, in the order it was asked: a summary that invents nothing. */
function summaryOf(messages: readonly ModelMessage[]): string {
  const gists = messages.flatMap((message) => {
    if (message.role !== "user") return []
    const [head, ...lines] = message.content.split("\n")
    return head === SUMMARY_HEAD ? lines : [`- ${gistOf(message.content)}`]
  })
  return [SUMMARY_HEAD, ...gists.slice(-MAX_GISTS)].join("\n")
}

function gistOf(words: string): string {
  const line = words.trim().replace(/\s+/g, " ")
  return line.length <= MAX_GIST_CHARS ? line : `${line.slice(0, MAX_GIST_CHARS - 1).toWellFormed()}…`
}

function listOf(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`
}

/**
 * Says a script word by word.
 *
 * Errors  throws the signal's reason once it is aborted.
 * Cost    at most about MAX_SPEECH_MS, whatever the length.
 */
async function* speak(script: readonly ModelEvent[], delayMs: number, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const events = script.flatMap(cutToTokens)
  const inARow = delayMs === 0 ? TOKENS_IN_A_ROW : Math.max(1, Math.ceil((events.length * delayMs) / MAX_SPEECH_MS))
  let spoken = 0
  for (const event of events) {
    signal.throwIfAborted()
    yield event
    spoken += 1
    if (spoken % inARow === 0) await pause(delayMs, signal)
  }
  if (events.at(-1)?.type !== "fault") yield { type: "finish", input_tokens: 0, output_tokens: spoken }
}

/** A word with the white space before it, or a piece of a very long one. */
const TOKEN = /\s{1,16}\S{0,16}|\S{1,16}/gu

function cutToTokens(event: ModelEvent): ModelEvent[] {
  if (event.type !== "text_delta" && event.type !== "thinking_delta") return [event]
  return Array.from(event.delta.matchAll(TOKEN), ([delta]) => ({ ...event, delta }))
}
