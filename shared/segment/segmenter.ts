/**
 * segmenter.ts: a folded message becomes the ordered pieces a reader sees.
 *
 * event → fold → SEGMENT → ops → frame → view
 * One segmenter serves both paths: the live path feeds it as the text grows, the
 * history path feeds it whole, so they agree by construction (law 1).
 * Pure. Same message, same bytes, however it was cut.
 */

import { assetUrl, segmentOfAsset } from "../protocol/asset.ts"
import { cleanToModel } from "../sanitize/clean.ts"
import { splitCode } from "../text/code-tracker.ts"
import { type Cue, type CueRow, createCues } from "../protocol/card-cue.ts"
import type { Asset } from "../protocol/event.ts"
import { apply, type Op, type Segment, type WireMessage } from "../protocol/frame.ts"
import { createGrantBook, NO_GRANTS, permitOf, type Resolver } from "./grant.ts"
import { stripSpans } from "./span-tag.ts"
import {
  callsOf,
  contentOf,
  type Grants,
  isEnded,
  type Message,
  type Part,
  type ToolCall,
} from "../protocol/message.ts"
import {
  createDelivery,
  createPartSegmenter,
  createWriter,
  type Delivery,
  type Drift,
  type PartContext,
  type PartSegmenter,
  type Writer,
} from "./part-segmenter.ts"
import { createToolView } from "./tool-segment.ts"

export { type Drift, stripSpans }

export type Segmenter = Pick<PartSegmenter, "push" | "end" | "drift">

/**
 * Cuts the text of one part at its `<span id='tool_n'>` marks and joins each mark to the call that cued it.
 *
 * Shapes  rows → Segmenter; `at` of its ops counts from this part's first segment.
 * Units   offsets are UTF-16 code units.
 * Errors  none. An orphan or unclosed mark becomes text and one drift.
 * Cost    one pass over the text.
 * Source  SPEC SG1–SG8; seed 000 §5.4.
 */
export function createSegmenter(toolCalls: readonly CueRow[], context: Partial<PartContext> = {}): Segmenter {
  const alone = { base: 0, drift: [], delivery: createDelivery("current"), permit: permitOf({}) }
  return createPartSegmenter({ cueFor: createCues(toolCalls), ...alone, ...context })
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
  if (role !== "assistant") {
    const files = message.attachments.map(segmentOfAsset).filter((segment) => segment !== null)
    return words === "" ? files : [{ type: "text", content: words }, ...files]
  }
  return viewOfWhole(message).segments
}

/** All of it at once: its segments, and the message that it answers by its own words. */
function viewOfWhole(message: Message): { readonly segments: Segment[]; readonly replyTo: string | null } {
  const transcriber = createTranscriber()
  const segments = apply([], transcriber.advance(message))
  return { segments, replyTo: transcriber.replyTo() }
}

/** A message as a client holds it: whole frames, pages of history and exports all come from here. */
export function messageToWire(message: Message): WireMessage {
  const { id, role, exchange_id, status, reason, topic, mode, metrics, timestamp } = message
  const content = contentOf(message)
  const { segments, replyTo } =
    role === "assistant" ? viewOfWhole(message) : { segments: segmentsOf(message), replyTo: null }
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
    ...(replyTo === null ? {} : { reply_to: replyTo }),
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
   * gained since then, so that a long text need not be looked at whole for its last words. Directives go by what their
   * part was granted; with a `resolver` what is new is asked for.
   */
  advance(message: Message, freshOf?: FreshOf, resolver?: Resolver): Op[]
  /** The message that was shown to it last, with all that was granted. */
  granted(message: Message): Message
  readonly drift: readonly Drift[]
  /** The message that it answers by its own words (`[[reply_to…]]`), so far. */
  replyTo(): string | null
}

export type FreshOf = (at: number) => string | undefined

/** One part's share in the list of segments. */
interface PartView {
  /** Its part as last shown; null before the first time. */
  seen: Part | null
  readonly advance: (part: Part, fresh: string | undefined, resolver: Resolver | null) => Op[]
  /** What its directives were granted. */
  readonly grants?: () => Grants
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
  const calls = createCallBook()
  let delivery: Delivery | null = null
  let count = 0
  let isDelivered = false
  return {
    drift,
    replyTo: () => delivery?.replyTo() ?? null,
    granted(message) {
      const parts = message.parts.map((part, at) => {
        const view = views[at]
        const grants = view?.grants?.()
        if (view === undefined || part.type !== "text" || grants === (part.grants ?? NO_GRANTS)) return part
        if (grants === undefined) return part
        view.seen = { ...part, grants }
        return view.seen
      })
      return parts.every((part, at) => part === message.parts[at]) ? message : { ...message, parts }
    },
    advance(message, freshOf, resolver) {
      const all: Op[] = []
      const shared = delivery ?? createDelivery(answeredBy(message))
      delivery = shared
      const known = resolver === undefined ? null : withCalls(resolver, message)
      message.parts.forEach((part, at) => {
        const view = views[at] ?? viewOf(at, part, { base: count, drift, delivery: shared }, calls)
        views[at] = view
        if (view.seen === part) return
        if (part.type === "tool_call") calls.keep(at, part.call)
        const ops = view.advance(part, freshOf?.(at), known)
        view.seen = part
        count = countAfter(count, ops)
        for (const op of ops) all.push(op)
      })
      if (message.status !== "completed" || isDelivered) return all
      isDelivered = true
      return [...all, ...deliverMedia(message, shared, count)]
    },
  }
}

/** An answer from outside answers nothing that was said here: its exchange is its own (SPEC EX1). */
function answeredBy({ mode, exchange_id }: Message): string | null {
  return mode === "external" ? null : exchange_id
}

/** What its calls stored is known with the voice that they gave it. */
function withCalls(resolver: Resolver, message: Message): Resolver {
  return {
    ...resolver,
    asset: (id) => mediaOfCalls(message).find((asset) => asset.id === id) ?? resolver.asset(id),
  }
}

function mediaOfCalls(message: Message): Asset[] {
  return callsOf(message).flatMap(({ channel, media }) => (channel === "user" ? media : []))
}

/** An answer that is whole and named no media is followed by that of its calls (SPEC DR13). */
function deliverMedia(message: Message, delivery: Delivery, count: number): Op[] {
  if (delivery.hasMedia()) return []
  const assets = mediaOfCalls(message)
  if (assets.length > 0 && drawsOneOf(assets, message)) return []
  const ops: Op[] = []
  for (const asset of assets) {
    const segment = segmentOfAsset(asset)
    if (segment !== null) ops.push(...delivery.media(segment, count + ops.length))
  }
  return ops
}

/** Markdown's own way to show a picture, which models know best. */
const PICTURE = /!\[[^\][]*\]\(\s*<?(\/media\/[\w-]+)/g

function drawsOneOf(assets: readonly Asset[], { parts }: Message): boolean {
  const urls = new Set(assets.map(assetUrl))
  const texts = parts.flatMap((part) => (part.type === "text" ? splitCode(part.text) : []))
  return texts.some(
    ({ code, text }) => !code && Array.from(text.matchAll(PICTURE)).some(([, url = ""]) => urls.has(url)),
  )
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

type Shared = Pick<PartContext, "base" | "drift" | "delivery">

function viewOf(at: number, part: Part, shared: Shared, calls: CallBook): PartView {
  const { base } = shared
  switch (part.type) {
    case "text":
      return viewText({ ...shared, cueFor: calls.cuesAt(at) })
    case "thinking":
      return viewThinking(createWriter(base, (content) => ({ type: "thinking", content })))
    case "tool_call":
      return viewTool(createToolView(base))
  }
}

interface CallBook {
  keep(at: number, call: ToolCall): void
  /** What is cued in the part at `at` when it is asked: a result may come while that part is still being written. */
  cuesAt(at: number): (tag: string) => Cue | null
}

/** The calls of a message as last shown, and what they cue: of this turn, on channel `user`, standing before (law 4). */
function createCallBook(): CallBook {
  // By their place among the parts: there are holes in it, which `filter` leaves out.
  const calls: ToolCall[] = []
  let version = 0
  return {
    keep(at, call) {
      calls[at] = call
      version += 1
    },
    cuesAt(at) {
      let read = -1
      let cueFor: (tag: string) => Cue | null = () => null
      return (tag) => {
        if (read !== version) cueFor = createCues(calls.slice(0, at).filter(({ channel }) => channel === "user"))
        read = version
        return cueFor(tag)
      }
    },
  }
}

function viewText(context: Omit<PartContext, "permit">): PartView {
  let length = 0
  const permit = createGrantBook()
  const segmenter = createPartSegmenter({ ...context, permit })
  return {
    seen: null,
    grants: permit.grants,
    advance(part, fresh, resolver) {
      if (part.type !== "text") return []
      permit.read(part.grants ?? NO_GRANTS, resolver)
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
