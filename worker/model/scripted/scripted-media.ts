/**
 * scripted-media.ts: how the scripted model makes pictures, charts, speech and documents.
 *
 * question → SCRIPTED MEDIA → call; result → SCRIPTED MEDIA → words, with what was made in its place
 * It places what it made by the line that the result's trailer asks for, as a real model must.
 * Pure.
 */

import { parseJson } from "../../../shared/json.ts"
import type { ModelEvent, ToolSpec } from "../model-adapter.ts"
import type { CallOutcome } from "./weather-prose.ts"
import { CLOCK_HTML, COUNTER_HTML } from "./scripted-canvas.ts"

/** A wish for one of these, where the turn has the tool. Null: it is none. */
export function planMediaCall(question: string, tools: readonly ToolSpec[]): readonly ModelEvent[] | null {
  const request =
    parseChartRequest(question) ??
    parseCanvasRequest(question) ??
    parseImageRequest(question) ??
    parseSpeechRequest(question)
  if (request === null || tools.every(({ name }) => name !== request.name)) return null
  return [
    { type: "thinking_delta", delta: request.why },
    { type: "text_delta", delta: request.words },
    { type: "tool_call", name: request.name, args: JSON.stringify(request.args) },
  ]
}

interface MediaRequest {
  readonly name: string
  readonly args: object
  readonly why: string
  readonly words: string
}

const trimRequest = (question: string): string =>
  question
    .trim()
    .replace(/[.!?]+$/, "")
    .replace(/^please,? /i, "")

/** "Draw a chart of apples 3, pears 5". */
function parseChartRequest(question: string): MediaRequest | null {
  const pattern =
    /^(?:draw|make|show|plot|create)(?: me)?(?: an?)? (?:bar )?chart (?:of|with|about|for|from):? (.{1,800})$/is
  const dataText = pattern.exec(trimRequest(question))?.[1]
  if (dataText === undefined) return null
  // A comma in a figure, as in 1,200, parts nothing.
  const parts = dataText.split(/,(?!\d{3}(?!\d))|[;\n]| and /i)
  const data = parts.flatMap((part) => {
    const [, label, value = ""] = /^\s*(\S.{0,58}?)\s*[:= ]\s*[$€£]?(-?\d[\d,]*(?:\.\d+)?)%?\s*$/.exec(part) ?? []
    return label === undefined ? [] : [{ label, value: Number(value.replaceAll(",", "")) }]
  })
  if (data.length === 0) return null
  const title = data
    .map(({ label }) => label)
    .join(", ")
    .slice(0, 60)
  const args = { kind: "chart", prompt: title, title, data }
  const words = data.length === parts.length ? "I will draw it." : "I will draw what has a figure."
  return { name: "image_generate", args, why: "These are figures: a chart says it best.", words }
}

/** "Paint a sunset", "make a picture of the sea". */
function parseImageRequest(question: string): MediaRequest | null {
  const pattern =
    /^(?:(?:paint|draw)(?: me)?(?: an? (?:picture|image) of)?|(?:make|create|generate)(?: me)? an? (?:picture|image|painting) of) (\S.{0,300})$/is
  const prompt = pattern.exec(trimRequest(question))?.[1]
  if (prompt === undefined) return null
  const why = "A picture is wanted. The tool paints; I only place it."
  return { name: "image_generate", args: { kind: "picture", prompt }, why, words: `I will paint ${prompt}.` }
}

/** "Say hello world". */
function parseSpeechRequest(question: string): MediaRequest | null {
  const text = /^(?:say|speak|read aloud)(?: aloud)?:? (\S.{0,500})$/is.exec(question.trim())?.[1]
  if (text === undefined) return null
  const words = text.replace(/^["“']|["”']$/g, "")
  return { name: "speak", args: { text: words }, why: "This is to be heard, not read.", words: "Listen:" }
}

/** "Make a clock canvas", "make a counter canvas". */
function parseCanvasRequest(question: string): MediaRequest | null {
  const subject = /^(?:make|create|build|draw)(?: me)? an? (\w{1,20}) (?:canvas|widget)$/i.exec(
    trimRequest(question),
  )?.[1]
  if (subject === undefined) return null
  const isClock = /clock|time|watch/i.test(subject)
  const args = isClock
    ? { title: "Clock", html: CLOCK_HTML, height: 300 }
    : { title: "Counter", html: COUNTER_HTML, height: 200 }
  const why = `A document of its own can show a ${args.title.toLowerCase()} that moves.`
  return { name: "canvas_create", args, why, words: "I will build it." }
}

const MEDIA_TOOLS: ReadonlySet<string> = new Set(["image_generate", "speak", "canvas_create"])

/** What the newest of them brought; null: no result of this turn is of that kind. */
export function describeMediaResults(outcomes: readonly CallOutcome[]): string | null {
  const mediaOutcomes = outcomes.filter(({ name }) => MEDIA_TOOLS.has(name))
  return mediaOutcomes.length === 0 || mediaOutcomes.length < outcomes.length
    ? null
    : mediaOutcomes.map(describeMediaResult).join("\n\n")
}

/** The data stands before the first blank line; what it asks us to write stands after it. */
function describeMediaResult({ name, result }: CallOutcome): string {
  const blank = result.indexOf("\n\n")
  const trailer = blank < 0 ? "" : result.slice(blank)
  const data = parseJson(blank < 0 ? result : result.slice(0, blank))
  const readTextField = (field: string): string | null => {
    const value = typeof data === "object" && data !== null && !Array.isArray(data) ? Reflect.get(data, field) : null
    return typeof value === "string" ? value : null
  }
  const error = readTextField("error")
  if (error !== null) return `That did not work: ${error} ${readTextField("details") ?? ""}`.trim()
  if (name === "speak") return "That is how it sounds."
  const line = /^(?:MEDIA:\S+|\[embed [^\n]+\/\])$/m.exec(trailer)?.[0]
  if (line === undefined) return "It is made, but nothing says how to show it."
  return name === "canvas_create"
    ? `There it is:\n\n${line}\n\nIt runs by itself and reaches nothing outside.`
    : `Here it is:\n\n${line}\n\nTell me if it should look different.`
}
