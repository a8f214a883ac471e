/**
 * scripted-media.ts: the scripted model's images, charts, speech and documents. Pure.
 *
 * question → tool call; tool result → text that shows what was made
 * Like a real model, it shows the result by writing the line that the result's trailer requests.
 */

import { parseJson } from "../../../shared/json.ts"
import type { ModelEvent, ToolSpec } from "../model-adapter.ts"
import type { CallOutcome } from "./weather-prose.ts"
import { CLOCK_HTML, COUNTER_HTML } from "./scripted-canvas.ts"

/** Returns the tool call for a media request, if the turn has the tool. Returns null for any other question. */
export function planMediaCall(question: string, tools: readonly ToolSpec[]): readonly ModelEvent[] | null {
  const hasChartTool = tools.some(({ name }) => name === "chart")
  const request =
    parseChartRequest(question, hasChartTool) ??
    parseCanvasRequest(question) ??
    parseImageRequest(question) ??
    parseSpeechRequest(question)
  if (request === null || tools.every(({ name }) => name !== request.name)) return null
  return [
    { type: "thinking_delta", delta: request.thinking },
    { type: "text_delta", delta: request.text },
    { type: "tool_call", name: request.name, args: JSON.stringify(request.args) },
  ]
}

interface MediaRequest {
  readonly name: string
  readonly args: object
  /** The model's thinking and text before the call. */
  readonly thinking: string
  readonly text: string
}

const trimRequest = (question: string): string =>
  question
    .trim()
    .replace(/[.!?]+$/, "")
    .replace(/^please,? /i, "")

/** Parses "Draw a chart of apples 3, pears 5". An agent without the chart tool draws an image. */
function parseChartRequest(question: string, hasChartTool: boolean): MediaRequest | null {
  const pattern =
    /^(?:draw|make|show|plot|create)(?: me)?(?: an?)? (?:bar )?chart (?:of|with|about|for|from):? (.{1,800})$/is
  const dataText = pattern.exec(trimRequest(question))?.[1]
  if (dataText === undefined) return null
  // The comma in a number such as 1,200 is not a separator.
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
  const text = data.length === parts.length ? "I'll draw it." : "I'll draw the items that have a number."
  const thinking = "These are numbers, so a chart fits best."
  if (hasChartTool) return { name: "chart", args: { title, data }, thinking, text }
  return { name: "image_generate", args: { kind: "chart", prompt: title, title, data }, thinking, text }
}

/** Parses "Paint a sunset", "make an image of the sea". */
function parseImageRequest(question: string): MediaRequest | null {
  const pattern =
    /^(?:(?:paint|draw)(?: me)?(?: an? (?:picture|image) of)?|(?:make|create|generate)(?: me)? an? (?:picture|image|painting) of) (\S.{0,300})$/is
  const prompt = pattern.exec(trimRequest(question))?.[1]
  if (prompt === undefined) return null
  const thinking = "The user wants an image. The tool paints it, and I only place it."
  return { name: "image_generate", args: { kind: "picture", prompt }, thinking, text: `I'll paint ${prompt}.` }
}

/** Parses "Say hello world". */
function parseSpeechRequest(question: string): MediaRequest | null {
  const quoted = /^(?:say|speak|read aloud)(?: aloud)?:? (\S.{0,500})$/is.exec(question.trim())?.[1]
  if (quoted === undefined) return null
  const text = quoted.replace(/^["“']|["”']$/g, "")
  return { name: "speak", args: { text }, thinking: "The user wants to hear this.", text: "Listen:" }
}

/** Parses "Make a clock canvas", "make a counter canvas". */
function parseCanvasRequest(question: string): MediaRequest | null {
  const subject = /^(?:make|create|build|draw)(?: me)? an? (\w{1,20}) (?:canvas|widget)$/i.exec(
    trimRequest(question),
  )?.[1]
  if (subject === undefined) return null
  const isClock = /clock|time|watch/i.test(subject)
  const args = isClock
    ? { title: "Clock", html: CLOCK_HTML, height: 300 }
    : { title: "Counter", html: COUNTER_HTML, height: 200 }
  const thinking = `A canvas can show an interactive ${args.title.toLowerCase()}.`
  return { name: "canvas_create", args, thinking, text: "I'll build it." }
}

const MEDIA_TOOLS: ReadonlySet<string> = new Set(["image_generate", "speak", "canvas_create"])

/** Returns the text for the results of these tools; null if the turn has any other result, or none. */
export function describeMediaResults(outcomes: readonly CallOutcome[]): string | null {
  const mediaOutcomes = outcomes.filter(({ name }) => MEDIA_TOOLS.has(name))
  return mediaOutcomes.length === 0 || mediaOutcomes.length < outcomes.length
    ? null
    : mediaOutcomes.map(describeMediaResult).join("\n\n")
}

/** Describes a result. Its data is before the first blank line, and the line to write is after it. */
function describeMediaResult({ name, result }: CallOutcome): string {
  const blank = result.indexOf("\n\n")
  const trailer = blank < 0 ? "" : result.slice(blank)
  const data = parseJson(blank < 0 ? result : result.slice(0, blank))
  const readTextField = (field: string): string | null => {
    const value = typeof data === "object" && data !== null && !Array.isArray(data) ? Reflect.get(data, field) : null
    return typeof value === "string" ? value : null
  }
  const error = readTextField("error")
  if (error !== null) return `That didn't work: ${error} ${readTextField("details") ?? ""}`.trim()
  if (name === "speak") return "Here's how it sounds."
  const line = /^(?:MEDIA:\S+|\[embed [^\n]+\/\])$/m.exec(trailer)?.[0]
  if (line === undefined) return "It's done, but I can't show it here."
  return name === "canvas_create"
    ? `Here it is:\n\n${line}\n\nIt runs on its own, with no network access.`
    : `Here it is:\n\n${line}\n\nLet me know if you'd like any changes.`
}
