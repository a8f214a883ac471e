/**
 * scripted-agents.ts: the scripted model as part of a team: questions to other agents, their answers, the researcher.
 * Pure.
 *
 * Like a real model, it reads the names of the other agents from its tools, and its own role from its prompt.
 */

import { parseJson } from "../../../shared/json.ts"
import type { ModelEvent, ToolSpec } from "../model-adapter.ts"
import type { Intent } from "./intent.ts"

/** The text of an incoming question or answer, and the agent that sent it. `from` is null if the user sent it. */
export interface TurnText {
  readonly text: string
  readonly from: { readonly name: string; readonly kind: "asks" | "answers" } | null
}

/** Splits off the header that system-prompt.ts puts before another agent's text. */
export function parseAgentHeader(content: string): TurnText {
  const head = /^\[The agent "([^"\n]{1,64})" (asks you|has answered)[^\n]*\]\n\n/.exec(content)
  if (head === null) return { text: content, from: null }
  const kind = head[2] === "asks you" ? "asks" : "answers"
  return { text: content.slice(head[0].length), from: { name: head[1] ?? "", kind } }
}

const AGENT_REQUEST =
  /^(?:please )?(?:ask|have|let) (?:the |our )?([a-z][a-z0-9_-]{0,31})(?: agent)?(,? (?:in the background|asynchronously|without waiting),?)? ?(?:about |to |for |whether |if |: ?)?(\S[\s\S]{0,2000})$/i

/**
 * Returns the call for a request such as "Ask the researcher about …". Returns null for other questions, or if there is
 * no such agent.
 */
export function planAgentQuestion(question: string, tools: readonly ToolSpec[]): readonly ModelEvent[] | null {
  const [, name = "", asyncPhrase, message = ""] = AGENT_REQUEST.exec(question.trim()) ?? []
  const agent = name.toLowerCase()
  if (message === "" || !readPeerNames(tools).includes(agent)) return null
  const mode = asyncPhrase === undefined ? "sync" : "async"
  const how = mode === "sync" ? "I'll wait for the answer." : "That may take a while, so I won't wait."
  return [
    { type: "thinking_delta", delta: `The user wants ${agent} to look at this. ${how}` },
    { type: "text_delta", delta: `I'll ask the **${agent}** agent.` },
    { type: "tool_call", name: "agents_message", args: JSON.stringify({ agent, message, mode }) },
  ]
}

function readPeerNames(tools: readonly ToolSpec[]): readonly string[] {
  const parameters = JSON.stringify(tools.find(({ name }) => name === "agents_message")?.parameters ?? null)
  const names = /"agent":\{"type":"string","enum":(\[[^\]]*\])/.exec(parameters)?.[1] ?? "[]"
  const value = parseJson(names)
  return Array.isArray(value) ? value.filter((name) => typeof name === "string") : []
}

/** Returns a summary of an agent's asynchronous answer. */
export function summarizeAgentAnswer(name: string, text: string): readonly ModelEvent[] {
  return [
    {
      type: "thinking_delta",
      delta: `The ${name} agent has answered. I'll repeat the key points and add no figures of my own.`,
    },
    { type: "text_delta", delta: writeAgentPoints(name, text) },
  ]
}

/** At most this many lines of an answer are repeated. */
const MAX_POINTS = 3

/**
 * Returns the lines of an agent's answer that contain figures, or its first line. The user can see the whole answer
 * above.
 */
export function writeAgentPoints(name: string, text: string): string {
  const lines = text.split("\n").map((line) => line.trim().replace(/^(?:(?:[-*+>]|#{1,6})\s+)+/, ""))
  const figures = lines.filter((line) => /\d/.test(line)).slice(0, MAX_POINTS)
  const points = figures.length > 0 ? figures : lines.filter((line) => line !== "").slice(0, 1)
  return `The **${name}** agent replied:\n\n${points.map((line) => `- ${line}`).join("\n")}`
}

export function isResearcher(system: string): boolean {
  return system.startsWith("You are the researcher.")
}

/** Returns the researcher's next step, which looks up one place. Returns null if nothing is left. */
export function planNextLookUp(
  intent: Extract<Intent, { kind: "weather" }>,
  lookedUpCount: number,
): readonly ModelEvent[] | null {
  const place = intent.places[lookedUpCount]
  if (place === undefined) return null
  const left = intent.places.length - lookedUpCount
  const first = `There ${left === 1 ? "is one place" : `are ${left} places`} to look up. I'll start with ${place}.`
  const next = `Done. ${left === 1 ? "The last one is" : "Next is"} ${place}.`
  return [
    { type: "thinking_delta", delta: lookedUpCount === 0 ? first : next },
    ...(lookedUpCount === 0 ? [{ type: "text_delta", delta: `Starting with ${place}.` } as const] : []),
    { type: "tool_call", name: "weather", args: JSON.stringify({ location: place }) },
  ]
}

export function writeFindings(text: string): readonly ModelEvent[] {
  const points = text.split("\n\n").flatMap((line) => (/\d/.test(line) || /umbrella/.test(line) ? [`- ${line}`] : []))
  return [
    { type: "thinking_delta", delta: "I've looked up everything. Now I'll put it together." },
    { type: "text_delta", delta: points.length < 2 ? text : `**Findings**\n\n${points.join("\n")}` },
  ]
}
