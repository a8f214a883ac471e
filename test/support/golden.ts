/**
 * golden.ts: parses and prints the notation of test/golden/*.txt; test/README.md describes it.
 *
 * The lines above `---` are the session's data and a producer's raw events, one per line. The lines below are the
 * expected segments and drift.
 */

/*
 * Session data:
 *   origin https://ok.com · message m1 · asset pic image "chart.png" [voice]
 *   save chart_1 pic image "chart.png" [voice]      an asset that the call itself stored
 * Events:
 *   text "…" · think "…" · thought 1200 · step · end [status [reason]]
 *   call weather_1 {args} [channel]                 dispatched; with `ephemeral`, an ephemeral row on channel `user`
 *   want pay_1 {args}                               requested, not dispatched
 *   start pay_1 · ask pay_1 · allow pay_1 · deny pay_1 · output weather_1 "…" · fail weather_1 code "message"
 *   result weather_1 {json}                         the data, followed by the trailer that cues a card
 *   plain weather_1 "…"                             the result verbatim
 *   defer ask_1 {json}                              a provisional result; the final one arrives later
 * Last lines below `---`: `is <status> [reason]` unless the message is running or completed, and `replies <id>`.
 */

import { resolveCardTag } from "../../shared/protocol/card-cue.ts"
import type { Asset, Channel, TurnEvent } from "../../shared/protocol/event.ts"
import type { Segment } from "../../shared/protocol/segment.ts"
import type { Resolver } from "../../shared/segment/grant.ts"
import type { Message } from "../../shared/protocol/message.ts"
import type { Drift } from "../../shared/segment/segmenter.ts"
import { readToolMedia } from "../../shared/segment/tool-media.ts"
import { createCardTrailer } from "../../worker/tool/tool.ts"

export interface Golden {
  readonly name: string
  /** The comment lines: rule ids and a description. */
  readonly title: string
  readonly events: readonly TurnEvent[]
  /** The session's origins, messages and assets. */
  readonly resolver: Resolver
  /** The lines below `---`. */
  readonly expected: readonly string[]
}

export function parseGolden(name: string, text: string): Golden {
  const [above = "", below = ""] = text.split(/^---$/m)
  const comments = above.split("\n").filter((line) => line.startsWith("#"))
  const title = comments.map((line) => line.slice(1).trim()).join(" ")
  const data = new SessionData()
  const lines = listLines(above).filter((line) => !data.parseLine(line))
  const events = lines.flatMap((line) => parseEventLine(line, name)).map((event) => data.addMedia(event))
  return { name, title, events, resolver: data, expected: listLines(below).map(normalizeLine) }
}

/** The session data of a golden file. */
class SessionData implements Resolver {
  readonly #origins: string[] = []
  readonly #messages: string[] = []
  readonly #assets: Asset[] = []
  readonly #saved = new Map<string, Asset[]>()

  readonly listOrigins = (): readonly string[] => this.#origins
  readonly hasMessage = (id: string): boolean => this.#messages.includes(id)
  readonly findAsset = (id: string): Asset | null => this.#assets.find((asset) => asset.id === id) ?? null

  /** Parses a line if it is session data. Returns false for any other line. */
  parseLine(line: string): boolean {
    const [, word, rest = ""] = /^(origin|message|asset|save)\s+(.*)$/.exec(line) ?? []
    if (word === undefined) return false
    if (word === "origin") this.#origins.push(rest)
    if (word === "message") this.#messages.push(rest)
    if (word === "asset") this.#assets.push(parseAsset(rest))
    if (word !== "save") return true
    const [, call_id = "", more = ""] = /^(\S+)\s+(.*)$/.exec(rest) ?? []
    const asset = parseAsset(more)
    this.#assets.push(asset)
    this.#saved.set(call_id, [...(this.#saved.get(call_id) ?? []), asset])
    return true
  }

  /** Adds the assets that the call stored to its result, as dispatch does. */
  addMedia(event: TurnEvent): TurnEvent {
    if (event.type !== "tool_result" || event.result === null) return event
    const media = readToolMedia(event.result, this.#saved.get(event.call_id) ?? [])
    return media.length === 0 ? event : { ...event, media }
  }
}

const MIME_TYPES = {
  image: "image/png",
  audio: "audio/wav",
  video: "video/mp4",
  file: "text/plain",
  canvas: "text/html",
}

function parseAsset(text: string): Asset {
  const [, id = "", kind = "", label = '""', voice] =
    /^(\S+)\s+(\w+)\s+("(?:[^"\\]|\\.)*")(?:\s+(voice))?$/.exec(text) ?? []
  if (!(kind in MIME_TYPES)) throw new Error(`not an asset: ${text}`)
  const mime_type = MIME_TYPES[kind as Asset["kind"]]
  const asset = { id, kind: kind as Asset["kind"], mime_type, label: JSON.parse(label), size: 7 }
  return voice === undefined ? asset : { ...asset, voice: true }
}

function listLines(text: string): string[] {
  return text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"))
}

/** Removes the spaces that align columns. */
function normalizeLine(line: string): string {
  return line.trim().replace(/^(\w+) +/, "$1 ")
}

function parseEventLine(line: string, name: string): TurnEvent[] {
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
      return parseCallLine(word, rest, `${name}: ${line}`)
  }
}

function parseCallLine(word: string, rest: string, where: string): TurnEvent[] {
  const [, call_id = "", more = ""] = /^(\S+)\s*(.*)$/.exec(rest) ?? []
  const [, tool = "", digits = "1"] = /^(.*)_(\d+)$/.exec(call_id) ?? []
  const ordinal = Number(digits)
  switch (word) {
    case "call": {
      const [, args = "{}", channel = "user"] = /^(\{.*\})?\s*(\w+)?$/.exec(more) ?? []
      const isEphemeral = channel === "ephemeral"
      const on = isEphemeral ? "user" : (channel as Channel)
      const start = { type: "tool_call_start", call_id, channel: on, ordinal: on === "user" ? ordinal : null } as const
      return [{ type: "tool_call", call_id, name: tool, args }, isEphemeral ? { ...start, ephemeral: true } : start]
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
      return [createResult(call_id, tool, ordinal, `${more}\n\n${createCardTrailer(call_id)}`)]
    case "plain":
      return [createResult(call_id, tool, ordinal, JSON.parse(more))]
    case "defer":
      return [{ ...createResult(call_id, tool, ordinal, more), status: "waiting", card: null }]
    case "output":
      return [{ type: "tool_output_delta", call_id, delta: JSON.parse(more) }]
    case "fail": {
      const [, code = "", message = '""'] = /^(\S+)\s*(.*)$/.exec(more) ?? []
      const error = { code, message: JSON.parse(message) }
      return [{ type: "tool_result", call_id, status: "failed", result: null, card: null, error }]
    }
    default:
      throw new Error(`unknown line: ${where}`)
  }
}

function createResult(
  call_id: string,
  tool: string,
  ordinal: number,
  result: string,
): Extract<TurnEvent, { type: "tool_result" }> {
  return {
    type: "tool_result",
    call_id,
    status: "ok",
    result,
    card: resolveCardTag(tool, ordinal, result),
    error: null,
  }
}

/** Returns the `is` line of a message, if it has one. */
export function printStatus({ status, reason }: Message): string[] {
  return status === "running" || status === "completed" ? [] : [["is", status, reason ?? ""].join(" ").trim()]
}

/** Returns the `replies` line of a message, if it has one. */
export function printReply(replyTo: string | undefined): string[] {
  return replyTo === undefined ? [] : [`replies ${replyTo}`]
}

/** Prints segments and drift in the notation. */
export function printSegments(segments: readonly Segment[], drift: readonly Drift[]): string[] {
  return [
    ...segments.map(printSegment),
    ...drift.map((one) => `drift ${one.reason} ${"tag" in one ? one.tag : one.what}`),
  ]
}

/** Prints metadata that only the session's own assets have. */
function printMetadata({ mime_type, size, voice }: Extract<Segment, { type: "media" }>): string {
  const fields = [mime_type, size?.toString(), voice === true ? "voice" : undefined]
  return fields.flatMap((field) => (field === undefined ? [] : [` ${field}`])).join("")
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
      return `media ${segment.kind} ${segment.url} ${quoted(segment.label)}${printMetadata(segment)}`
    case "source":
      return ["source", segment.url, quoted(segment.title), ...(segment.quote ? [quoted(segment.quote)] : [])].join(" ")
    case "tool": {
      const { call_id, status, approval, output, result, error, truncated } = segment
      const shown = [approval, output && `output ${quoted(output)}`, result && `result ${quoted(result)}`, error?.code]
      const cut = truncated && `cut ${truncated.lines} lines ${truncated.bytes} bytes`
      return ["tool", call_id, status, ...[...shown, cut].filter((part) => part)].join(" ")
    }
  }
}
