/** scripted-search.ts: the scripted model's searches. Pure. question → tool call; its sources → text with links. */

import { isJsonObject, type Json, parseJson } from "../../../shared/json.ts"
import { splitResult } from "../../../shared/protocol/card-cue.ts"
import type { ModelEvent, ToolSpec } from "../model-adapter.ts"
import type { CallOutcome } from "./weather-prose.ts"

/** Maximum number of sources that the answer quotes. With a card, which shows all sources, it quotes only the first. */
const MAX_QUOTED = 3

/** Plans the call for "Search for tea" or "look up tides". Returns null for any other question, or without the tool. */
export function planSearch(question: string, tools: readonly ToolSpec[]): readonly ModelEvent[] | null {
  const query = /^(?:please )?(?:search(?: for)?|look up|find pages about) (\S.{0,150}?)[.?!]*$/i.exec(
    question.trim(),
  )?.[1]
  if (query === undefined || tools.every(({ name }) => name !== "search")) return null
  return [
    { type: "text_delta", delta: "I'll look for pages about that." },
    { type: "tool_call", name: "search", args: JSON.stringify({ query }) },
  ]
}

/** Returns the answer to a search; null if there was none, or if it failed. */
export function describeSearch(outcomes: readonly CallOutcome[]): string | null {
  const { head, trailer } = splitResult(outcomes.find(({ name }) => name === "search")?.result ?? "")
  const data = parseJson(head)
  if (!isJsonObject(data) || !Array.isArray(data["sources"])) return null
  const tag = /<span id='(search_\d+)'>/.exec(trailer)?.[1]
  const points = data["sources"].slice(0, tag === undefined ? MAX_QUOTED : 1).flatMap(describeSource)
  if (points.length === 0) return "I found nothing about that."
  // Next to a card there is only one point, so it is written as a sentence, not as a list.
  const text = tag === undefined ? points.map((point) => `- ${point}`) : points
  const card = tag === undefined ? [] : [`<span id='${tag}'>${countPages(data["sources"].length)}</span>`]
  const note = data["sample"] === true ? ["These pages are samples, because no search service is set up."] : []
  return ["Here's what I found:", ...card, text.join("\n"), ...note].join("\n\n")
}

function countPages(count: number): string {
  return count === 1 ? "One page." : `${count} pages.`
}

function describeSource(source: Json): string[] {
  if (!isJsonObject(source)) return []
  const { url, title, quote } = source
  if (typeof url !== "string" || typeof title !== "string" || typeof quote !== "string") return []
  return [`${quote} [${title}](${url})`]
}
