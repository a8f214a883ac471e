/**
 * scripted-tools.ts: the scripted model's use of small tools. Pure. question → tool call; result → sentence.
 *
 * It understands "Calculate 12 * 7", "Set a timer for 5 minutes", "Make a list: tea, milk" and "Read https://…".
 */

import type { Json } from "../../../shared/json.ts"
import type { ModelEvent, ToolSpec } from "../model-adapter.ts"

/** Only this many characters of a question are read. */
const MAX_READ_CHARS = 400
const MAX_LISTED = 20
const SECONDS: Readonly<Record<string, number>> = { second: 1, minute: 60, hour: 3600 }

interface ToolRequest {
  readonly name: string
  readonly args: { readonly [name: string]: Json }
  readonly text: string
}

/** Plans a tool call. Returns null for any other question, or without the tool. */
export function planToolRequest(question: string, tools: readonly ToolSpec[]): readonly ModelEvent[] | null {
  const text = question.slice(0, MAX_READ_CHARS).trim()
  const request = parseCalculation(text) ?? parseTimer(text) ?? parseList(text) ?? parseReading(text)
  if (request === null || tools.every(({ name }) => name !== request.name)) return null
  return [
    { type: "text_delta", delta: request.text },
    { type: "tool_call", name: request.name, args: JSON.stringify(request.args) },
  ]
}

/** Returns the sentence for a result that has a card. */
export function describeToolResult(name: string): string {
  switch (name) {
    case "calculate":
      return "That's the result."
    case "timer":
      return "The countdown is running."
    case "list":
      return "Tell me what is done, and I'll update the list."
    case "fetch_page":
      return "This is the page. I work offline, so I can't summarise it."
    default:
      return `The tool ${name} returned a result.`
  }
}

function parseCalculation(text: string): ToolRequest | null {
  const expression = /^(?:calculate|compute) (\S.*?)[?.!]*$/i.exec(text)?.[1]
  return expression === undefined ? null : { name: "calculate", args: { expression }, text: "I'll calculate it." }
}

function parseTimer(text: string): ToolRequest | null {
  const [, count, unit, label] =
    /^(?:set|start) a timer for (\d{1,5}) (second|minute|hour)s?(?: for (\S.{0,60}?))?[.!]*$/i.exec(text) ?? []
  if (count === undefined || unit === undefined) return null
  const name = unit.toLowerCase()
  const seconds = Number(count) * (SECONDS[name] ?? 1)
  return { name: "timer", args: { label: label ?? "Timer", seconds }, text: "I'll start it." }
}

function parseList(text: string): ToolRequest | null {
  const [, title, listed] = /^make a list(?: called ([^:]{1,60}))?: (\S.*)$/is.exec(text) ?? []
  if (listed === undefined) return null
  const texts = listed
    .split(/[,;\n]+/)
    .map((item) => item.trim())
    .filter((item) => item !== "")
  const items = texts.slice(0, MAX_LISTED).map((item) => ({ text: item }))
  return { name: "list", args: { title: title ?? "List", items }, text: "I'll write it down." }
}

function parseReading(text: string): ToolRequest | null {
  const url = /^(?:read|open|fetch) (https?:\/\/\S+)$/i.exec(text)?.[1]
  return url === undefined ? null : { name: "fetch_page", args: { url }, text: "I'll read the page." }
}
