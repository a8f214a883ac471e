/**
 * segmenter.ts: a folded message becomes the ordered pieces a reader sees.
 *
 * event → fold → SEGMENT → ops → frame → view
 * One segmenter serves both paths: the live path feeds it as the text grows, the
 * history path feeds it whole, so they agree by construction (law 1).
 * Pure. Same message, same bytes, however it was cut.
 */

import { assetToSegment } from "../protocol/asset.ts"
import { assetUrl } from "../protocol/asset-url.ts"
import { cleanToModel } from "../sanitize/clean.ts"
import { splitCode } from "../text/code-tracker.ts"
import { type Cue, type CueRow, createCueLookup } from "../protocol/card-cue.ts"
import type { Asset } from "../protocol/event.ts"
import { apply } from "../protocol/apply-ops.ts"
import type { Op, Segment } from "../protocol/segment.ts"
import type { WireMessage } from "../protocol/server-frame.ts"
import { createGrantDecider, NO_GRANTS, grantsToPermit, type Resolver } from "./grant.ts"
import { stripSpans } from "./span-tag.ts"
import {
  listCalls,
  deriveContent,
  type Grants,
  isEnded,
  type Message,
  type Part,
  type ToolCall,
} from "../protocol/message.ts"
import {
  createDelivery,
  createPartSegmenter,
  createSegmentWriter,
  type Delivery,
  type Drift,
  type PartContext,
  type PartSegmenter,
  type SegmentWriter,
} from "./part-segmenter.ts"
import { createToolSegmenter } from "./tool-segment.ts"

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
  const defaults = { base: 0, drift: [], delivery: createDelivery("current"), permit: grantsToPermit({}) }
  return createPartSegmenter({ cueFor: createCueLookup(toolCalls), ...defaults, ...context })
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
    const files = message.attachments.map(assetToSegment).filter((segment) => segment !== null)
    return words === "" ? files : [{ type: "text", content: words }, ...files]
  }
  return deriveView(message).segments
}

/** All of it at once: its segments, and the message that it answers by its own words. */
function deriveView(message: Message): { readonly segments: Segment[]; readonly replyTo: string | null } {
  const transcriber = createMessageSegmenter()
  const segments = apply([], transcriber.advance(message))
  return { segments, replyTo: transcriber.getReplyTo() }
}

/** A message as a client holds it: whole frames, pages of history and exports all come from here. */
export function messageToWire(message: Message): WireMessage {
  const { id, role, exchange_id, status, reason, topic, mode, metrics, timestamp } = message
  const content = deriveContent(message)
  const { segments, replyTo } =
    role === "assistant" ? deriveView(message) : { segments: segmentsOf(message), replyTo: null }
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
    ...buildOptionalFields(message),
    ...(replyTo === null ? {} : { reply_to: replyTo }),
  }
}

/** What most messages have not. */
function buildOptionalFields({ reply_to, summary, agent, origin, version, versions }: Message): Partial<WireMessage> {
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
    if (segment.type === "text") words.push(stripMarkup(segment.content))
    if (segment.type === "rich") words.push(stripMarkup(segment.synthesis))
  }
  return words.filter((text) => text !== "").join("\n\n")
}

const ALLOWED_TAGS = /<\/?(?:[a-z]+[1-6]?|span id=["'][a-z0-9_]+["'])>/g

function stripMarkup(text: string): string {
  const untagged = splitCode(stripSpans(text)).map((piece) =>
    piece.code ? piece.text : piece.text.replace(ALLOWED_TAGS, ""),
  )
  return cleanToModel(untagged.join("")).trim()
}

export interface MessageSegmenter {
  /**
   * What changed in the segments since the message was last shown to it. `freshOf`, where it is known: what part `at` has
   * gained since then, so that a long text need not be looked at whole for its last words. Directives go by what their
   * part was granted; with a `resolver` what is new is asked for.
   */
  advance(message: Message, freshOf?: NewTextLookup, resolver?: Resolver): Op[]
  /** The message that was shown to it last, with all that was granted. */
  applyGrants(message: Message): Message
  readonly drift: readonly Drift[]
  /** The message that it answers by its own words (`[[reply_to…]]`), so far. */
  getReplyTo(): string | null
}

export type NewTextLookup = (at: number) => string | undefined

/** One part's share in the list of segments. */
interface PartView {
  /** Its part as last shown; null before the first time. */
  lastPart: Part | null
  readonly advance: (part: Part, fresh: string | undefined, resolver: Resolver | null) => Op[]
  /** What its directives were granted. */
  readonly currentGrants?: () => Grants
}

/**
 * Follows one message and tells its segments as ops, from nothing or from where it was.
 *
 * Shapes  Message → Op[], so that `apply(ops so far)` = `segmentsOf(message)`.
 * Cost    the number of parts, plus what is new.
 */
export function createMessageSegmenter(): MessageSegmenter {
  const views: PartView[] = []
  const drift: Drift[] = []
  const calls = createCallIndex()
  let delivery: Delivery | null = null
  let count = 0
  let isDelivered = false
  return {
    drift,
    getReplyTo: () => delivery?.getReplyTo() ?? null,
    applyGrants(message) {
      const parts = message.parts.map((part, at) => {
        const view = views[at]
        const grants = view?.currentGrants?.()
        if (view === undefined || part.type !== "text" || grants === (part.grants ?? NO_GRANTS)) return part
        if (grants === undefined) return part
        view.lastPart = { ...part, grants }
        return view.lastPart
      })
      return parts.every((part, at) => part === message.parts[at]) ? message : { ...message, parts }
    },
    advance(message, freshOf, resolver) {
      const all: Op[] = []
      const sharedDelivery = delivery ?? createDelivery(findAnsweredMessage(message))
      delivery = sharedDelivery
      const callResolver = resolver === undefined ? null : withCallMedia(resolver, message)
      message.parts.forEach((part, at) => {
        const view = views[at] ?? createPartView(at, part, { base: count, drift, delivery: sharedDelivery }, calls)
        views[at] = view
        if (view.lastPart === part) return
        if (part.type === "tool_call") calls.setCall(at, part.call)
        const ops = view.advance(part, freshOf?.(at), callResolver)
        view.lastPart = part
        count = countSegments(count, ops)
        for (const op of ops) all.push(op)
      })
      if (message.status !== "completed" || isDelivered) return all
      isDelivered = true
      return [...all, ...deliverMedia(message, sharedDelivery, count)]
    },
  }
}

/** An answer from outside answers nothing that was said here: its exchange is its own (SPEC DR5). */
function findAnsweredMessage({ mode, exchange_id }: Message): string | null {
  return mode === "external" ? null : exchange_id
}

/** What its calls stored is known with the voice that they gave it. */
function withCallMedia(resolver: Resolver, message: Message): Resolver {
  return {
    ...resolver,
    findAsset: (id) => listCallMedia(message).find((asset) => asset.id === id) ?? resolver.findAsset(id),
  }
}

function listCallMedia(message: Message): Asset[] {
  return listCalls(message).flatMap(({ channel, media }) => (channel === "user" ? media : []))
}

/** An answer that is whole and named no media is followed by that of its calls (SPEC DR20). */
function deliverMedia(message: Message, delivery: Delivery, count: number): Op[] {
  if (delivery.hasMedia()) return []
  const assets = listCallMedia(message)
  if (assets.length > 0 && hasImageOf(assets, message)) return []
  const ops: Op[] = []
  for (const asset of assets) {
    const segment = assetToSegment(asset)
    if (segment !== null) ops.push(...delivery.showMedia(segment, count + ops.length))
  }
  return ops
}

/** Markdown's own way to show a picture, which models know best. */
const IMAGE_LINK = /!\[[^\][]*\]\(\s*<?(\/media\/[\w-]+)/g

function hasImageOf(assets: readonly Asset[], { parts }: Message): boolean {
  const urls = new Set(assets.map(({ id }) => assetUrl(id)))
  const texts = parts.flatMap((part) => (part.type === "text" ? splitCode(part.text) : []))
  return texts.some(
    ({ code, text }) => !code && Array.from(text.matchAll(IMAGE_LINK)).some(([, url = ""]) => urls.has(url)),
  )
}

/** What changed beside the segments: the status, the end, the summary. */
export function diffMessageState(before: Message, after: Message): Op[] {
  const { status, reason, metrics, summary } = after
  const ops: Op[] = []
  if (summary !== null && summary !== before.summary) ops.push({ op: "meta", summary: summary.text })
  if (status === before.status) return ops
  return [...ops, isEnded(status) ? { op: "end", status, reason, metrics } : { op: "meta", status }]
}

function countSegments(count: number, ops: readonly Op[]): number {
  let after = count
  for (const op of ops) {
    if (op.op === "open") after = op.at + 1
    if (op.op === "cut") after = op.to
  }
  return after
}

type SharedContext = Pick<PartContext, "base" | "drift" | "delivery">

function createPartView(at: number, part: Part, shared: SharedContext, calls: CallIndex): PartView {
  const { base } = shared
  switch (part.type) {
    case "text":
      return createTextView({ ...shared, cueFor: calls.createCueLookupAt(at) })
    case "thinking":
      return createThinkingView(createSegmentWriter(base, (content) => ({ type: "thinking", content })))
    case "tool_call":
      return createToolPartView(createToolSegmenter(base))
  }
}

interface CallIndex {
  setCall(at: number, call: ToolCall): void
  /** What is cued in the part at `at` when it is asked: a result may come while that part is still being written. */
  createCueLookupAt(at: number): (tag: string) => Cue | null
}

/** The calls of a message as last shown, and what they cue: of this turn, on channel `user`, standing before (law 4). */
function createCallIndex(): CallIndex {
  // By their place among the parts: there are holes in it, which `filter` leaves out.
  const calls: ToolCall[] = []
  let version = 0
  return {
    setCall(at, call) {
      calls[at] = call
      version += 1
    },
    createCueLookupAt(at) {
      let readVersion = -1
      let cueFor: (tag: string) => Cue | null = () => null
      return (tag) => {
        if (readVersion !== version)
          cueFor = createCueLookup(calls.slice(0, at).filter(({ channel }) => channel === "user"))
        readVersion = version
        return cueFor(tag)
      }
    },
  }
}

function createTextView(context: Omit<PartContext, "permit">): PartView {
  let length = 0
  const permit = createGrantDecider()
  const segmenter = createPartSegmenter({ ...context, permit })
  return {
    lastPart: null,
    currentGrants: permit.currentGrants,
    advance(part, fresh, resolver) {
      if (part.type !== "text") return []
      permit.setSource(part.grants ?? NO_GRANTS, resolver)
      const ops = part.text.length > length ? segmenter.push(fresh ?? part.text.slice(length)) : []
      length = part.text.length
      if (!part.open) for (const op of part.cut === true ? segmenter.interrupt() : segmenter.end()) ops.push(op)
      return ops
    },
  }
}

function createThinkingView(writer: SegmentWriter): PartView {
  let length = 0
  return {
    lastPart: null,
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

function createToolPartView(view: (call: ToolCall) => Op[]): PartView {
  return { lastPart: null, advance: (part) => (part.type === "tool_call" ? view(part.call) : []) }
}
