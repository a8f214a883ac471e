/**
 * scripted-media.ts: how the scripted model makes pictures, charts, speech and documents.
 *
 * question → SCRIPTED MEDIA → call; result → SCRIPTED MEDIA → words, with what was made in its place
 * It places what it made by the line that the result's trailer asks for, as a real model must.
 * Pure.
 */

import { parseJson } from "../../../shared/protocol/frame.ts"
import type { ModelEvent, ToolSpec } from "../model-adapter.ts"
import type { Outcome } from "./weather-prose.ts"
import { CLOCK, COUNTER } from "./scripted-canvas.ts"

/** A wish for one of these, where the turn has the tool. Null: it is none. */
export function madeFor(question: string, tools: readonly ToolSpec[]): readonly ModelEvent[] | null {
  const wish = chartIn(question) ?? canvasIn(question) ?? pictureIn(question) ?? speechIn(question)
  if (wish === null || tools.every(({ name }) => name !== wish.name)) return null
  return [
    { type: "thinking_delta", delta: wish.why },
    { type: "text_delta", delta: wish.words },
    { type: "tool_call", name: wish.name, args: JSON.stringify(wish.args) },
  ]
}

interface Wish {
  readonly name: string
  readonly args: object
  readonly why: string
  readonly words: string
}

const trimmed = (question: string): string =>
  question
    .trim()
    .replace(/[.!?]+$/, "")
    .replace(/^please,? /i, "")

/** "Draw a chart of apples 3, pears 5". */
function chartIn(question: string): Wish | null {
  const order =
    /^(?:draw|make|show|plot|create)(?: me)?(?: an?)? (?:bar )?chart (?:of|with|about|for|from):? (.{1,800})$/is
  const told = order.exec(trimmed(question))?.[1]
  if (told === undefined) return null
  // A comma in a figure, as in 1,200, parts nothing.
  const parts = told.split(/,(?!\d{3}(?!\d))|[;\n]| and /i)
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
function pictureIn(question: string): Wish | null {
  const order =
    /^(?:(?:paint|draw)(?: me)?(?: an? (?:picture|image) of)?|(?:make|create|generate)(?: me)? an? (?:picture|image|painting) of) (\S.{0,300})$/is
  const prompt = order.exec(trimmed(question))?.[1]
  if (prompt === undefined) return null
  const why = "A picture is wanted. The tool paints; I only place it."
  return { name: "image_generate", args: { kind: "picture", prompt }, why, words: `I will paint ${prompt}.` }
}

/** "Say hello world". */
function speechIn(question: string): Wish | null {
  const text = /^(?:say|speak|read aloud)(?: aloud)?:? (\S.{0,500})$/is.exec(question.trim())?.[1]
  if (text === undefined) return null
  const words = text.replace(/^["“']|["”']$/g, "")
  return { name: "speak", args: { text: words }, why: "This is to be heard, not read.", words: "Listen:" }
}

/** "Make a clock canvas", "make a counter canvas". */
function canvasIn(question: string): Wish | null {
  const what = /^(?:make|create|build|draw)(?: me)? an? (\w{1,20}) (?:canvas|widget)$/i.exec(trimmed(question))?.[1]
  if (what === undefined) return null
  const isClock = /clock|time|watch/i.test(what)
  const args = isClock ? { title: "Clock", html: CLOCK, height: 300 } : { title: "Counter", html: COUNTER, height: 200 }
  const why = `A document of its own can show a ${args.title.toLowerCase()} that moves.`
  return { name: "canvas_create", args, why, words: "I will build it." }
}

const MAKERS: ReadonlySet<string> = new Set(["image_generate", "speak", "canvas_create"])

/** What the newest of them brought; null: no result of this turn is of that kind. */
export function shownOf(outcomes: readonly Outcome[]): string | null {
  const made = outcomes.filter(({ name }) => MAKERS.has(name))
  return made.length === 0 || made.length < outcomes.length ? null : made.map(tell).join("\n\n")
}

/** The data stands before the first blank line; what it asks us to write stands after it. */
function tell({ name, result }: Outcome): string {
  const blank = result.indexOf("\n\n")
  const trailer = blank < 0 ? "" : result.slice(blank)
  const data = parseJson(blank < 0 ? result : result.slice(0, blank))
  const told = (field: string): string | null => {
    const value = typeof data === "object" && data !== null && !Array.isArray(data) ? Reflect.get(data, field) : null
    return typeof value === "string" ? value : null
  }
  const error = told("error")
  if (error !== null) return `That did not work: ${error} ${told("details") ?? ""}`.trim()
  if (name === "speak") return "That is how it sounds."
  const line = /^(?:MEDIA:\S+|\[embed [^\n]+\/\])$/m.exec(trailer)?.[0]
  if (line === undefined) return "It is made, but nothing says how to show it."
  return name === "canvas_create"
    ? `There it is:\n\n${line}\n\nIt runs by itself and reaches nothing outside.`
    : `Here it is:\n\n${line}\n\nTell me if it should look different.`
}
