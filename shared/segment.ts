/**
 * segment.ts: a folded message becomes the ordered pieces a reader sees.
 *
 * event → fold → SEGMENT → ops → frame → view
 * One segmenter serves both paths: the live path feeds it as the text grows, the
 * history path feeds it whole, so they agree by construction (law 1).
 * Pure. Same message, same bytes, however it was cut.
 */

import { cleanToModel } from "./clean.ts"
import { splitCode } from "./code.ts"
import { type Cue, type CueRow, createCues } from "./cue.ts"
import { apply, type Op, type Segment, type WireMessage } from "./frame.ts"
import { createMarkScanner, type Mark, stripSpans } from "./mark.ts"
import { contentOf, isEnded, type Message, type Part, type ToolCall } from "./message.ts"
import { createToolView } from "./tool-segment.ts"

export { stripSpans }

/** Something in model text that did not fit; counted and logged, never shown as an error. */
export type Drift =
  | { readonly reason: "mark_orphan"; readonly tag: string }
  | { readonly reason: "mark_unclosed"; readonly tag: string }

export interface Segmenter {
  /** Takes more text of the part and tells what changes. */
  push(text: string): Op[]
  /** The part is over: what was held is settled. */
  end(): Op[]
  readonly drift: readonly Drift[]
}

/**
 * Cuts the text of one part at its `<span id='tool_n'>` marks and joins each mark to the call that cued it.
 *
 * Shapes  rows → Segmenter; `at` of its ops counts from this part's first segment.
 * Units   offsets are UTF-16 code units.
 * Errors  none. An orphan or unclosed mark becomes text and one drift.
 * Cost    one pass over the text.
 * Source  SPEC SG1–SG8; seed 000 §5.4.
 */
export function createSegmenter(toolCalls: readonly CueRow[]): Segmenter {
  return createPartSegmenter(createCues(toolCalls), 0)
}

/** The segments of one finished part. `toolCalls` are rows; bare rows cue what their trailer holds (seed 000). */
export function parse(content: string, toolCalls: readonly CueRow[]): Segment[] {
  const segmenter = createSegmenter(toolCalls)
  return apply([], [...segmenter.push(content), ...segmenter.end()])
}

/**
 * What a reader sees of a message.
 *
 * Shapes  Message → Segment[], in the order of its parts; an open part is shown as far as it is settled.
 * Errors  none.
 * Cost    linear in the message.
 * Source  SPEC SG1; law 1.
 */
export function segmentsOf(message: Message): Segment[] {
  const { role, words, agent } = message
  if (role === "agent" && agent !== null) return [{ type: "agent", content: words, ...agent }]
  // A person's words are theirs: shown as they are, never parsed.
  if (role !== "assistant") return words === "" ? [] : [{ type: "text", content: words }]
  return apply([], createTranscriber().advance(message))
}

/** A message as a client holds it: whole frames, pages of history and exports all come from here. */
export function messageToWire(message: Message): WireMessage {
  const { id, role, exchange_id, status, reason, topic, mode, metrics, timestamp } = message
  const content = contentOf(message)
  const segments = segmentsOf(message)
  return {
    id,
    role,
    exchange_id,
    content,
    segments,
    status,
    reason,
    topic,
    mode,
    metrics,
    timestamp,
    ...extrasOf(message),
  }
}

/** What most messages have not. */
function extrasOf({ reply_to, summary, agent, origin, version, versions }: Message): Partial<WireMessage> {
  return {
    ...(reply_to === null ? {} : { reply_to }),
    ...(summary === null ? {} : { summary: summary.text }),
    ...(agent === null ? {} : { agent }),
    ...(origin === null ? {} : { origin }),
    ...(versions > 1 ? { version, versions } : {}),
  }
}

/** The words alone: no tags, no tools, no thinking. For copy, titles, search, the announcer and speech. */
export function plainText(message: Message): string {
  if (message.role !== "assistant") return message.words
  const words: string[] = []
  for (const segment of segmentsOf(message)) {
    if (segment.type === "text") words.push(wordsOf(segment.content))
    if (segment.type === "rich") words.push(wordsOf(segment.synthesis))
  }
  return words.filter((text) => text !== "").join("\n\n")
}

const KEPT_TAGS = /<\/?(?:[a-z]+[1-6]?|span id=["'][a-z0-9_]+["'])>/g

function wordsOf(text: string): string {
  const untagged = splitCode(stripSpans(text)).map((piece) =>
    piece.code ? piece.text : piece.text.replace(KEPT_TAGS, ""),
  )
  return cleanToModel(untagged.join("")).trim()
}

export interface Transcriber {
  /**
   * What changed in the segments since the message was last shown to it. `freshOf`, where it is known: what part `at` has
   * gained since then, so that a long text need not be looked at whole for its last words.
   */
  advance(message: Message, freshOf?: FreshOf): Op[]
  readonly drift: readonly Drift[]
}

export type FreshOf = (at: number) => string | undefined

/** One part's share in the list of segments. */
interface PartView {
  /** Its part as last shown; null before the first time. */
  seen: Part | null
  readonly advance: (part: Part, fresh: string | undefined) => Op[]
}

/**
 * Follows one message and tells its segments as ops, from nothing or from where it was.
 *
 * Shapes  Message → Op[], so that `apply(ops so far)` = `segmentsOf(message)`.
 * Cost    the number of parts, plus what is new.
 */
export function createTranscriber(): Transcriber {
  const views: PartView[] = []
  const drift: Drift[] = []
  let count = 0
  return {
    drift,
    advance(message, freshOf) {
      const all: Op[] = []
      message.parts.forEach((part, at) => {
        const view = views[at] ?? viewOf(message, at, part, count, drift)
        views[at] = view
        if (view.seen === part) return
        const ops = view.advance(part, freshOf?.(at))
        view.seen = part
        count = countAfter(count, ops)
        for (const op of ops) all.push(op)
      })
      return all
    },
  }
}

/** What changed beside the segments: the status, the end, the summary. */
export function opsBeside(before: Message, after: Message): Op[] {
  const { status, reason, metrics, summary } = after
  const ops: Op[] = []
  if (summary !== null && summary !== before.summary) ops.push({ op: "meta", summary: summary.text })
  if (status === before.status) return ops
  return [...ops, isEnded(status) ? { op: "end", status, reason, metrics } : { op: "meta", status }]
}

function countAfter(count: number, ops: readonly Op[]): number {
  let after = count
  for (const op of ops) {
    if (op.op === "open") after = op.at + 1
    if (op.op === "cut") after = op.to
  }
  return after
}

function viewOf(message: Message, at: number, part: Part, base: number, drift: Drift[]): PartView {
  switch (part.type) {
    case "text":
      return viewText(createPartSegmenter(createCues(callsBefore(message, at)), base, drift))
    case "thinking":
      return viewThinking(createWriter(base, (content) => ({ type: "thinking", content })))
    case "tool_call":
      return viewTool(createToolView(base))
  }
}

/** Rows that may cue a card in the part at `at`: of this turn, on channel `user`, standing before it (law 4). */
function callsBefore(message: Message, at: number): ToolCall[] {
  const calls: ToolCall[] = []
  for (const part of message.parts.slice(0, at)) {
    if (part.type === "tool_call" && part.call.channel === "user") calls.push(part.call)
  }
  return calls
}

function viewText(segmenter: PartSegmenter): PartView {
  let length = 0
  return {
    seen: null,
    advance(part, fresh) {
      if (part.type !== "text") return []
      const ops = part.text.length > length ? segmenter.push(fresh ?? part.text.slice(length)) : []
      length = part.text.length
      if (!part.open) for (const op of part.cut === true ? segmenter.cut() : segmenter.end()) ops.push(op)
      return ops
    },
  }
}

function viewThinking(writer: Writer): PartView {
  let length = 0
  return {
    seen: null,
    advance(part, fresh) {
      if (part.type !== "thinking") return []
      const ops = writer.write(fresh ?? part.text.slice(length))
      length = part.text.length
      if (!part.open && part.ms !== null && writer.isOpen()) {
        ops.push({ op: "set", at: writer.at, fields: { ms: part.ms } })
      }
      return ops
    },
  }
}

function viewTool(view: (call: ToolCall) => Op[]): PartView {
  return { seen: null, advance: (part) => (part.type === "tool_call" ? view(part.call) : []) }
}

/** Writes one growing text, trimmed as a whole: leading white space goes, trailing white space waits. */
interface Writer {
  readonly at: number
  isOpen(): boolean
  write(text: string): Op[]
}

function createWriter(at: number, segmentWith: ((content: string) => Segment) | null): Writer {
  let length = 0
  let waiting = ""
  // A writer without a segment of its own appends to one that is open already (a card's synthesis).
  let open = segmentWith === null
  return {
    at,
    isOpen: () => open,
    write(text) {
      const fresh = length === 0 ? text.trimStart() : text
      const body = fresh.trimEnd()
      if (body === "") {
        if (length > 0) waiting += fresh
        return []
      }
      const added = length === 0 ? body : waiting + body
      waiting = fresh.slice(body.length)
      const offset = length
      length += added.length
      if (open || segmentWith === null) return [{ op: "text", at, offset, text: added }]
      open = true
      return [{ op: "open", at, segment: segmentWith(added) }]
    },
  }
}

function createTextWriter(at: number): Writer {
  return createWriter(at, (content) => ({ type: "text", content }))
}

/** An opening tag whose `</span>` has not come yet, and what to do if it never comes. */
interface OpenMark {
  readonly tag: string
  readonly cue: Cue | null
  /** The tag and all after it, as written. */
  readonly raw: string[]
  /** Segments there were before it. */
  readonly base: number
  /** The text before it, which goes on if the mark is never closed. */
  readonly before: Writer
  readonly inner: Writer
}

interface PartSegmenter extends Segmenter {
  /** The part was ended from outside: what was held is settled, and a card that is open stays one. */
  cut(): Op[]
}

function createPartSegmenter(cueFor: (tag: string) => Cue | null, base: number, drift: Drift[] = []): PartSegmenter {
  const scanner = createMarkScanner()
  let prose = createTextWriter(base)
  let mark: OpenMark | null = null
  let ended = false
  const openMark = (tag: string, raw: string): Op[] => {
    const at = prose.at + (prose.isOpen() ? 1 : 0)
    const cue = cueFor(tag)
    const inner = cue === null ? createTextWriter(at) : createWriter(at, null)
    mark = { tag, cue, raw: [raw], base: at, before: prose, inner }
    return cue === null ? [] : [{ op: "open", at, segment: richSegment(tag, cue) }]
  }
  const closeMark = (open: OpenMark): Op[] => {
    if (open.cue === null) drift.push({ reason: "mark_orphan", tag: open.tag })
    prose = createTextWriter(open.base + (open.inner.isOpen() ? 1 : 0))
    mark = null
    return []
  }
  const abandonMark = (open: OpenMark): Op[] => {
    drift.push({ reason: "mark_unclosed", tag: open.tag })
    prose = open.before
    mark = null
    const cut: Op[] = open.inner.isOpen() ? [{ op: "cut", to: open.base }] : []
    return [...cut, ...prose.write(open.raw.join(""))]
  }
  const take = (found: Mark): Op[] => {
    const open = mark
    if (open === null) return found.type === "open" ? openMark(found.tag, found.raw) : prose.write(wordsIn(found))
    if (found.type === "close") return closeMark(open)
    open.raw.push(wordsIn(found))
    return open.inner.write(wordsIn(found))
  }
  const settle = (isCut: boolean): Op[] => {
    if (ended) return []
    ended = true
    const ops = scanner.end().flatMap(take)
    if (mark === null || (isCut && mark.cue !== null)) return ops
    return [...ops, ...abandonMark(mark)]
  }
  return { drift, push: (text) => scanner.push(text).flatMap(take), end: () => settle(false), cut: () => settle(true) }
}

function richSegment(tag: string, cue: Cue): Segment {
  const call = cue.call_id === undefined ? {} : { call_id: cue.call_id }
  return { type: "rich", tag, payload: cue.payload, synthesis: "", ...call }
}

function wordsIn(mark: Mark): string {
  return mark.type === "text" ? mark.text : mark.raw
}
