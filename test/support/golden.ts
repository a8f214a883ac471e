/**
 * golden.ts: reads and prints the notation of test/golden/*.txt.
 *
 * Above `---` what a producer says, one raw event a line; below it the segments that a reader sees, and the drift.
 *   think "…" · thought 1200 · text "…" · step · call weather_1 {args} [channel] · result weather_1 {json} ·
 *   want pay_1 {args} (asked for, not dispatched) · ask pay_1 · allow pay_1 · deny pay_1 · start pay_1 ·
 *   plain weather_1 "verbatim result" · defer ask_1 {json} (an answer for now; the true one comes later) · fail weather_1 code "message" · output weather_1 "…" · end [status [reason]]
 * `result` gives the tool's own string: its JSON and the trailer that cues its card. A message that did not just run
 * or end well is told by a last line, `is <status> [reason]`; one that names what it answers, by `replies <id>`.
 */

import { cardOf } from "../../shared/cue.ts"
import type { Channel, TurnEvent } from "../../shared/event.ts"
import type { Segment } from "../../shared/frame.ts"
import type { Message } from "../../shared/message.ts"
import type { Drift } from "../../shared/segment.ts"
import { cardTrailer } from "../../worker/tool/tool.ts"

export interface Golden {
  readonly name: string
  /** First line: rule ids and what it shows. */
  readonly title: string
  readonly events: readonly TurnEvent[]
  /** The lines below `---`. */
  readonly expected: readonly string[]
}

export function parseGolden(name: string, text: string): Golden {
  const [above = "", below = ""] = text.split(/^---$/m)
  const comments = above.split("\n").filter((line) => line.startsWith("#"))
  const title = comments.map((line) => line.slice(1).trim()).join(" ")
  const events = linesOf(above).flatMap((line) => eventsOf(line, name))
  return { name, title, events, expected: linesOf(below).map(normalLine) }
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"))
}

/** Columns may be aligned by any number of spaces. */
function normalLine(line: string): string {
  return line.trim().replace(/^(\w+) +/, "$1 ")
}

function eventsOf(line: string, name: string): TurnEvent[] {
  const [, word = "", rest = ""] = /^(\w+)\s*(.*)$/.exec(line) ?? []
  switch (word) {
    case "think":
      return [{ type: "thinking_delta", delta: JSON.parse(rest) }]
    case "thought":
      return [{ type: "thinking_done", ms: Number(rest) }]
    case "text":
      return [{ type: "text_delta", delta: JSON.parse(rest) }]
    case "step":
      return [{ type: "step_start" }]
    case "end": {
      const [status = "completed", reason] = rest.split(" ").filter((part) => part !== "")
      return [{ type: "end", status: status as "completed", reason: reason ?? null, metrics: null }]
    }
    default:
      return callEvents(word, rest, `${name}: ${line}`)
  }
}

function callEvents(word: string, rest: string, where: string): TurnEvent[] {
  const [, call_id = "", more = ""] = /^(\S+)\s*(.*)$/.exec(rest) ?? []
  const [, tool = "", digits = "1"] = /^(.*)_(\d+)$/.exec(call_id) ?? []
  const ordinal = Number(digits)
  switch (word) {
    case "call": {
      const [, args = "{}", channel = "user"] = /^(\{.*\})?\s*(\w+)?$/.exec(more) ?? []
      const isUser = channel === "user"
      return [
        { type: "tool_call", call_id, name: tool, args },
        { type: "tool_call_start", call_id, channel: channel as Channel, ordinal: isUser ? ordinal : null },
      ]
    }
    case "want":
      return [{ type: "tool_call", call_id, name: tool, args: more === "" ? "{}" : more }]
    case "start":
      return [{ type: "tool_call_start", call_id, channel: "user", ordinal }]
    case "ask":
      return [{ type: "tool_approval", call_id, approval: "asked" }]
    case "allow":
      return [{ type: "tool_approval", call_id, approval: "allowed" }]
    case "deny":
      return [{ type: "tool_approval", call_id, approval: "denied" }]
    case "result":
      return [resultEvent(call_id, tool, ordinal, `${more}\n\n${cardTrailer(call_id)}`)]
    case "plain":
      return [resultEvent(call_id, tool, ordinal, JSON.parse(more))]
    case "defer":
      return [{ ...resultEvent(call_id, tool, ordinal, more), status: "waiting", card: null }]
    case "output":
      return [{ type: "tool_output_delta", call_id, delta: JSON.parse(more) }]
    case "fail": {
      const [, code = "", message = '""'] = /^(\S+)\s*(.*)$/.exec(more) ?? []
      const error = { code, message: JSON.parse(message) }
      return [{ type: "tool_result", call_id, status: "failed", result: null, card: null, error }]
    }
    default:
      throw new Error(`not a line of the notation: ${where}`)
  }
}

function resultEvent(
  call_id: string,
  tool: string,
  ordinal: number,
  result: string,
): Extract<TurnEvent, { type: "tool_result" }> {
  return { type: "tool_result", call_id, status: "ok", result, card: cardOf(tool, ordinal, result), error: null }
}

/** How a message stands, where that is worth a line. */
export function printStatus({ status, reason }: Message): string[] {
  return status === "running" || status === "completed" ? [] : [["is", status, reason ?? ""].join(" ").trim()]
}

/** The message that it answers by its own words. */
export function printReply(replyTo: string | undefined): string[] {
  return replyTo === undefined ? [] : [`replies ${replyTo}`]
}

/** Segments and drift as the notation prints them. */
export function printSegments(segments: readonly Segment[], drift: readonly Drift[]): string[] {
  return [
    ...segments.map(printSegment),
    ...drift.map((one) => `drift ${one.reason} ${"tag" in one ? one.tag : one.what}`),
  ]
}

function printSegment(segment: Segment): string {
  const quoted = (text: string): string => JSON.stringify(text)
  switch (segment.type) {
    case "text":
      return `text ${quoted(segment.content)}`
    case "agent":
      return `agent ${segment.direction} ${segment.name} ${quoted(segment.content)}`
    case "thinking":
      return `think ${quoted(segment.content)}${segment.ms === undefined ? "" : ` ${segment.ms}`}`
    case "rich":
      return `card ${segment.tag} ${quoted(segment.payload as never)} ${quoted(segment.synthesis)}`
    case "canvas": {
      const { viewId, url, title, preferredHeight } = segment.preview
      const named = [title && quoted(title), preferredHeight?.toString()].filter((part) => part)
      return ["canvas", viewId ?? "-", url, ...named].join(" ")
    }
    case "media":
      return `media ${segment.kind} ${segment.url} ${quoted(segment.label)}${segment.voice === true ? " voice" : ""}`
    case "tool": {
      const { call_id, status, approval, output, result, error, truncated } = segment
      const shown = [approval, output && `output ${quoted(output)}`, result && `result ${quoted(result)}`, error?.code]
      const cut = truncated && `cut ${truncated.lines} lines ${truncated.bytes} bytes`
      return ["tool", call_id, status, ...[...shown, cut].filter((part) => part)].join(" ")
    }
  }
}
