/**
 * export-markdown.ts: renders a message as Markdown, for users' own exports: what was shown, in order.
 *
 * Content cannot affect the Markdown around it: user text, data and thinking are put into blocks, and so is an answer
 * whose Markdown would affect the text after it. Pure.
 */

import { isTurnFault, turnFaultToText } from "../fault.ts"
import type { Json } from "../json.ts"
import { printJson } from "../json-depth.ts"
import type { Segment } from "../protocol/segment.ts"
import type { TextSize } from "../truncate.ts"
import { stripSpans } from "./span-tag.ts"
import type { Message } from "../protocol/message.ts"
import { segmentsOf } from "./segmenter.ts"

/** Returns a card's data as self-contained Markdown, or null if the data is to be shown as JSON. */
export type PrintCard = (tag: string, payload: Json, view: string | undefined) => string | null

/**
 * Shapes: Message → Markdown that ends with a newline: a heading (who, when), then the message's segments.
 * Cost: linear in the size of what is shown.
 * Source: SPEC RE22.
 */
export function messageToMarkdown(message: Message, printCard: PrintCard = () => null): string {
  const blocks = [
    `## ${describeAuthor(message)} · ${message.timestamp}`,
    ...(message.origin !== null ? ["_Imported from a file. Its contents are not verified._"] : []),
    ...(message.mode === "spoken" ? [message.words === "" ? "_Spoken, without a transcript._" : "_Spoken._"] : []),
    ...(message.summary === null ? [] : [formatDetails("Summary of what stands before", message.summary.text)]),
    ...segmentsOf(message).flatMap((segment) => segmentToBlocks(message, segment, printCard)),
    ...describeEnd(message),
  ]
  return `${blocks.filter((block) => block !== "").join("\n\n")}\n`
}

function describeAuthor({ role, agent }: Message): string {
  switch (role) {
    case "user":
      return "User"
    case "assistant":
      return agent === null ? "Assistant" : `Assistant, to ${toSingleLine(agent.name)}`
    case "agent":
      return `Received from ${toSingleLine(agent?.name ?? "an agent")}`
  }
}

function segmentToBlocks({ role }: Message, segment: Segment, printCard: PrintCard): string[] {
  switch (segment.type) {
    case "text":
      return [role === "user" ? formatFence("text", segment.content) : formatProse(segment.content)]
    case "agent":
      return [formatFence("text", segment.content)]
    case "thinking": {
      const time = segment.ms === undefined ? "" : ` (${(segment.ms / 1000).toFixed(1)} s)`
      return [formatDetails(`Thinking${time}`, segment.content)]
    }
    case "tool":
      return toolToBlocks(segment)
    case "rich":
      return [
        formatProse(segment.synthesis),
        `Card ${formatInlineCode(segment.tag)}`,
        printCard(segment.tag, segment.payload, segment.view) ?? formatFence("json", printJson(segment.payload)),
      ]
    case "canvas":
      return [`Canvas: ${formatLink(segment.preview.url, segment.preview.title ?? segment.preview.viewId ?? "")}`]
    case "media":
      return [`${KIND_LABELS[segment.kind]}: ${formatLink(segment.url, segment.label)}`]
    case "source": {
      const quote = segment.quote === undefined ? "" : `: ${formatInlineCode(segment.quote)}`
      return [`Source: ${formatLink(segment.url, segment.title)}${quote}`]
    }
  }
}

const KIND_LABELS = { image: "Image", audio: "Audio", video: "Video", file: "File" } as const

/** Returns a link whose label and URL cannot break the link syntax. */
function formatLink(url: string, label: string): string {
  const text = toSingleLine(label).replace(/[\\`*_{}[\]<>#|~!&]/g, "\\$&")
  const address = url.replace(/[<>\\\s]/g, (unit) => encodeURIComponent(unit))
  return `[${text === "" ? "untitled" : text}](<${address}>)`
}

/** Returns the full size as text. A count of 0 means unknown. */
function formatWholeSize({ lines, bytes }: TextSize): string {
  const sizes = [...(lines > 0 ? [`${lines} lines`] : []), ...(bytes > 0 ? [`${bytes} bytes`] : [])]
  return sizes.length === 0 ? " (cut)" : ` (cut: ${sizes.join(", ")} in all)`
}

function toolToBlocks(tool: Extract<Segment, { type: "tool" }>): string[] {
  const { name, args, status, output, result, error, truncated } = tool
  const size = truncated === undefined ? "" : formatWholeSize(truncated)
  return [
    `Tool ${formatInlineCode(name)}: ${status}`,
    formatFence("json", args),
    ...(output === undefined ? [] : [`Output${result === undefined ? size : ""}:`, formatFence("text", output)]),
    ...(result === undefined ? [] : [`Result${size}:`, formatFence(isJson(result) ? "json" : "text", result)]),
    ...(error === undefined ? [] : [`Error ${formatInlineCode(error.code)}:`, formatFence("text", error.message)]),
  ]
}

/** Returns a line that says how the answer ended, unless it was completed. */
function describeEnd({ role, status, reason }: Message): string[] {
  if (role !== "assistant" || status === "completed") return []
  const why = reason === null ? "" : `: ${isTurnFault(reason) ? turnFaultToText(reason) : toSingleLine(reason)}`
  return [`_This answer is ${status}${why}_`]
}

/** Returns the model's Markdown without span tags. Text that leaves a block open is put into a fence. */
function formatProse(text: string): string {
  const prose = stripSpans(text)
  return isSelfContained(prose) ? prose : formatFence("markdown", prose)
}

const FENCE = /^([\s>*+\-\d.)]*)(`{3,}|~{3,})(.*)$/
/** Matches the tags of `pre`, the only allowed element that does not end with its paragraph. */
const PRE = /<(\/?)pre>/gi

/**
 * Returns whether every parser agrees that no block is left open: each fence closes at the nesting depth at which it
 * opened.
 */
function isSelfContained(text: string): boolean {
  let fence: { readonly prefix: string; readonly run: string } | null = null
  for (const line of text.split(/\r\n?|\n/)) {
    if (fence === null) {
      const [, prefix = "", run = "", info = ""] = FENCE.exec(line) ?? []
      if (run !== "" && !(run.startsWith("`") && info.includes("`"))) fence = { prefix, run }
    } else if (isOutsideFence(line, fence.prefix)) return false
    else if (isFenceClose(line, fence)) fence = null
  }
  return fence === null && hasBalancedPre(text)
}

/**
 * Returns whether each `pre` is closed. Parsers disagree on fences inside `pre` and on `pre` inside fences, so text
 * with both does not count as balanced.
 */
function hasBalancedPre(text: string): boolean {
  let depth = 0
  for (const [, slash] of text.matchAll(PRE)) {
    depth += slash === "" ? 1 : -1
    if (depth < 0 || depth > 1 || /`{3}|~{3}/.test(text)) return false
  }
  return depth === 0
}

/** Returns whether a line is less deeply nested than the open fence. */
function isOutsideFence(line: string, prefix: string): boolean {
  if (prefix.includes(">")) return !line.trimStart().startsWith(">")
  return line.trim() !== "" && line.search(/\S/) < prefix.length
}

function isFenceClose(line: string, { prefix, run }: { readonly prefix: string; readonly run: string }): boolean {
  const rest = prefix.includes(">") ? line.replace(/^[\s>]*/, "") : line.slice(prefix.length).replace(/^ {0,3}/, "")
  const closer = rest.trimEnd()
  return closer.length >= run.length && closer === run.charAt(0).repeat(closer.length)
}

/**
 * Returns a code block that can contain any text, because its fence is longer than any run of backticks in the text.
 */
function formatFence(language: string, text: string): string {
  const fence = "`".repeat(measureLongestRun(text, "`") + 1)
  return `${fence}${language}\n${text}\n${fence}`
}

/** Returns a collapsed block. Viewers that don't support `details` show a quote. */
function formatDetails(title: string, text: string): string {
  const quoted = text.split(/\r\n?|\n/).map((line) => `> ${line}`.trimEnd())
  return `<details><summary>${title}</summary>\n\n${quoted.join("\n")}\n\n</details>`
}

/** Returns inline code that can contain any text. */
function formatInlineCode(text: string): string {
  const line = toSingleLine(text)
  const fence = "`".repeat(line.includes("`") ? measureLongestRun(line, "`") + 1 : 1)
  return line.includes("`") ? `${fence} ${line} ${fence}` : `${fence}${line}${fence}`
}

function toSingleLine(text: string): string {
  return text.replace(/\s+/g, " ").trim()
}

/** Returns the length of a character's longest run; at least two. */
function measureLongestRun(text: string, char: string): number {
  let [longest, run] = [2, 0]
  for (const unit of text) {
    run = unit === char ? run + 1 : 0
    if (run > longest) longest = run
  }
  return longest
}

function isJson(text: string): boolean {
  return /^\s*[[{]/.test(text)
}
