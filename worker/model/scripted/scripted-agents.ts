/**
 * scripted-agents.ts: how the scripted model asks other agents, takes what they say, and works as the researcher.
 *
 * It knows whom it may ask by the tools that it was given, and who it is by its prompt, as a real model must.
 * Pure.
 */

import { parseJson } from "../../../shared/json.ts"
import type { ModelEvent, ToolSpec } from "../model-adapter.ts"
import type { Intent } from "./intent.ts"

/** Words of a turn, and which agent they came from. */
export interface TurnText {
  readonly text: string
  readonly from: { readonly name: string; readonly kind: "asks" | "answers" } | null
}

/** Takes off what stands before another agent's words (prompt.ts). */
export function parseAgentHeader(content: string): TurnText {
  const head = /^\[The agent "([^"\n]{1,64})" (asks you|has answered)[^\n]*\]\n\n/.exec(content)
  if (head === null) return { text: content, from: null }
  const kind = head[2] === "asks you" ? "asks" : "answers"
  return { text: content.slice(head[0].length), from: { name: head[1] ?? "", kind } }
}

const AGENT_REQUEST =
  /^(?:please )?(?:ask|have|let) (?:the |our )?([a-z][a-z0-9_-]{0,31})(?: agent)?(,? (?:in the background|asynchronously|without waiting),?)? ?(?:about |to |for |whether |if |: ?)?(\S[\s\S]{0,2000})$/i

/** "Ask the researcher about …", where there is such an agent. Null: it is no such wish. */
export function planAgentQuestion(question: string, tools: readonly ToolSpec[]): readonly ModelEvent[] | null {
  const [, name = "", later, message = ""] = AGENT_REQUEST.exec(question.trim()) ?? []
  const agent = name.toLowerCase()
  if (message === "" || !readPeerNames(tools).includes(agent)) return null
  const mode = later === undefined ? "sync" : "async"
  const how = mode === "sync" ? "I will wait for its answer." : "It may take its time, so I will not wait."
  return [
    { type: "thinking_delta", delta: `The user wants ${agent} to look at this. ${how}` },
    { type: "text_delta", delta: `I will ask **${agent}**.` },
    { type: "tool_call", name: "agents_message", args: JSON.stringify({ agent, message, mode }) },
  ]
}

function readPeerNames(tools: readonly ToolSpec[]): readonly string[] {
  const parameters = JSON.stringify(tools.find(({ name }) => name === "agents_message")?.parameters ?? null)
  const names = /"agent":\{"type":"string","enum":(\[[^\]]*\])/.exec(parameters)?.[1] ?? "[]"
  const value = parseJson(names)
  return Array.isArray(value) ? value.filter((name) => typeof name === "string") : []
}

/** What an asynchronous answer comes to for the reader, who has the whole of it above. */
export function summarizeAgentAnswer(name: string, text: string): readonly ModelEvent[] {
  const lines = text.split("\n").map((line) => line.replace(/^[-*>#\s]+/, "").trim())
  const figures = lines.filter((line) => /\d/.test(line)).slice(0, MAX_POINTS)
  const points = figures.length > 0 ? figures : lines.filter((line) => line !== "").slice(0, 1)
  return [
    {
      type: "thinking_delta",
      delta: `${name} has answered. I will say what matters of it, and add no figure of my own.`,
    },
    { type: "text_delta", delta: `**${name}** is back. In short:\n\n${points.map((line) => `- ${line}`).join("\n")}` },
  ]
}

/** Lines of an answer that are said again. */
const MAX_POINTS = 3

/** Words of another, as a quote: its Markdown stays inside. */
export function quoteMarkdown(text: string): string {
  return text
    .trim()
    .split("\n")
    .map((line) => `> ${line}`.trimEnd())
    .join("\n")
}

export function isResearcher(system: string): boolean {
  return system.startsWith("You are the researcher.")
}

/** The researcher looks up one thing a step. Null: all of it was looked up. */
export function planNextLookUp(
  intent: Extract<Intent, { kind: "weather" }>,
  lookedUpCount: number,
): readonly ModelEvent[] | null {
  const place = intent.places[lookedUpCount]
  if (place === undefined) return null
  const left = intent.places.length - lookedUpCount
  const first = `There ${left === 1 ? "is one place" : `are ${left} places`} to look at. I will begin with ${place}.`
  const next = `That is known now. ${left === 1 ? "The last one is" : "Next comes"} ${place}.`
  return [
    { type: "thinking_delta", delta: lookedUpCount === 0 ? first : next },
    ...(lookedUpCount === 0 ? [{ type: "text_delta", delta: `Looking at ${place} first.` } as const] : []),
    { type: "tool_call", name: "weather", args: JSON.stringify({ location: place }) },
  ]
}

export function writeFindings(text: string): readonly ModelEvent[] {
  const points = text.split("\n\n").flatMap((line) => (/\d/.test(line) || /umbrella/.test(line) ? [`- ${line}`] : []))
  return [
    { type: "thinking_delta", delta: "Everything that was asked is looked up. I will put it together." },
    { type: "text_delta", delta: points.length < 2 ? text : `**Findings**\n\n${points.join("\n")}` },
  ]
}
