/**
 * segmenter.ts: converts a message to the ordered segments that a user sees.
 *
 * event → fold → SEGMENT → ops → frame → view
 * The live path and the history path use the same segmenter: the live path passes it the text as it grows, the history
 * path the whole text. Both therefore give the same result (SPEC SG1). Pure: the same message gives the same bytes,
 * however its text was split.
 */

import { toActionRef } from "../protocol/cards/action-key.ts"
import { assetToSegment, isAsset } from "../protocol/asset.ts"
import { assetUrl } from "../protocol/asset-url.ts"
import { cleanToModel } from "../sanitize/clean.ts"
import { splitCode } from "../text/code-tracker.ts"
import { type Cue, type CueRow, createCueLookup } from "../protocol/card-cue.ts"
import type { CallMedia } from "../protocol/event.ts"
import { apply } from "../protocol/apply-ops.ts"
import type { Op, Segment } from "../protocol/segment.ts"
import type { WireMessage } from "../protocol/server-frame.ts"
import { createGrantDecider, NO_GRANTS, grantsToPermit, type Resolver } from "./grant.ts"
import { type MediaSegment, urlToMediaSegment } from "./media-directive.ts"
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
import { createSourceDelivery } from "./call-sources.ts"
import { createToolSegmenter } from "./tool-segment.ts"

export type { Drift }

export type Segmenter = Pick<PartSegmenter, "push" | "end" | "drift">

/**
 * Creates a segmenter that splits the text of one part at its `<span id='tool_n'>` tags and connects each span to the
 * call that cued it.
 *
 * Shapes: rows → Segmenter. In its ops, `at` is counted from this part's first segment.
 * Units: offsets are UTF-16 code units.
 * Errors: none. An orphan or unclosed span becomes text and adds one entry to `drift`.
 * Cost: one pass over the text.
 * Source: SPEC SG1–SG8.
 */
export function createSegmenter(toolCalls: readonly CueRow[], context: Partial<PartContext> = {}): Segmenter {
  const defaults = { base: 0, drift: [], delivery: createDelivery("current"), permit: grantsToPermit({}) }
  return createPartSegmenter({ cueFor: createCueLookup(toolCalls), ...defaults, ...context })
}

/** Returns the segments of one finished part. A row without `card` cues the tag in its trailer (SPEC SG10). */
export function parse(content: string, toolCalls: readonly CueRow[]): Segment[] {
  const segmenter = createSegmenter(toolCalls)
  return apply([], [...segmenter.push(content), ...segmenter.end()])
}

/** Returns the segments of a message.
 *
 * Shapes: Message → Segment[], in the order of its parts. Buffered text of an open part is not included.
 * Errors: none.
 * Cost: linear in the size of the message.
 * Source: SPEC SG1.
 */
export function segmentsOf(message: Message): Segment[] {
  const { role, words, agent } = message
  if (role === "agent" && agent !== null) return [{ type: "agent", content: words, ...agent }]
  // A user's text is shown verbatim and never parsed.
  if (role !== "assistant") {
    const files = message.attachments.map(assetToSegment).filter((segment) => segment !== null)
    return words === "" ? files : [{ type: "text", content: words }, ...files]
  }
  return deriveView(message).segments
}

/** Returns the segments of an answer, and the id of the message that a directive makes it a reply to. */
function deriveView(message: Message): { readonly segments: Segment[]; readonly replyTo: string | null } {
  const segmenter = createMessageSegmenter()
  const segments = apply([], segmenter.advance(message))
  return { segments, replyTo: segmenter.getReplyTo() }
}

/** Returns a message as clients receive it, in whole frames and in pages of history. */
export function messageToWire(message: Message): WireMessage {
  const { id, role, exchange_id, status, reason, mode, metrics, timestamp } = message
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
    mode,
    metrics,
    timestamp,
    ...buildOptionalFields(message),
    ...(replyTo === null ? {} : { reply_to: replyTo }),
  }
}

/** Returns the fields that most messages do not have. */
function buildOptionalFields(message: Message): Partial<WireMessage> {
  const { role, reply_to, summary, agent, origin, version, versions, trace, action } = message
  return {
    ...(reply_to === null ? {} : { reply_to }),
    ...(summary === null ? {} : { summary: summary.text }),
    ...(agent === null ? {} : { agent }),
    ...(action === undefined ? {} : { action: toActionRef(action) }),
    ...(origin === null ? {} : { origin }),
    ...(versions > 1 ? { version, versions } : {}),
    ...(role === "assistant" && trace !== undefined ? { trace } : {}),
  }
}

/**
 * Returns the text of a message without tags, tools and thinking. Used for reply quotes, and exported for other
 * programs.
 */
export function plainText(message: Message): string {
  if (message.role !== "assistant") return message.words
  const texts: string[] = []
  for (const segment of segmentsOf(message)) {
    if (segment.type === "text") texts.push(stripMarkup(segment.content))
    if (segment.type === "rich") texts.push(stripMarkup(segment.synthesis))
  }
  return texts.filter((text) => text !== "").join("\n\n")
}

const BARE_TAG_PATTERN = /<\/?([a-z]+[1-6]?|span id=["'][a-z0-9_]+["'])>/g
/** The inline elements. All other elements separate words. */
const INLINE_ELEMENTS = new Set(["b", "i", "u", "s", "em", "strong", "code", "kbd", "mark", "sub", "sup", "span"])

function stripMarkup(text: string): string {
  const untagged = splitCode(stripSpans(text)).map((piece) => (piece.code ? piece.text : stripBareTags(piece.text)))
  return cleanToModel(untagged.join("")).trim()
}

/** Removes tags. Inserts a space between words that were separated only by tags of blocks, cells or line breaks. */
function stripBareTags(text: string): string {
  if (!text.includes("<")) return text
  return text
    .replace(BARE_TAG_PATTERN, (_tag, name: string) => (INLINE_ELEMENTS.has(name.split(" ")[0] ?? "") ? "" : "\0"))
    .replace(/\0+/g, "\0")
    .replace(/(?<=\s)\0|\0(?=\s)/g, "")
    .replace(/\0/g, " ")
}

export interface MessageSegmenter {
  /**
   * Returns the ops since the last call. `getAddedText` returns the text that part `at` has gained since then, if it is
   * known, so that it need not be sliced from the whole text. Directives use the grants that are stored with their
   * part. If a `resolver` is given, new names are resolved and granted.
   */
  advance(message: Message, getAddedText?: AddedTextLookup, resolver?: Resolver): Op[]
  /** Returns the message with the grants that `advance` has decided. */
  applyGrants(message: Message): Message
  readonly drift: readonly Drift[]
  /** Returns the id of the message that the answer replies to, according to the directives so far (`[[reply_to…]]`). */
  getReplyTo(): string | null
}

export type AddedTextLookup = (at: number) => string | undefined

/** The segmenter of one part, with the state of the part that it has read. */
interface PartState {
  /** The part as of the last call; null before the first call. */
  lastPart: Part | null
  readonly advance: (part: Part, addedText: string | undefined, resolver: Resolver | null) => Op[]
  /** Returns the grants of the part's directives. */
  readonly currentGrants?: () => Grants
}

/**
 * Creates a segmenter that follows one message as it grows and returns the changes to its segments as ops.
 *
 * Shapes: Message → Op[], so that `apply(ops so far)` = `segmentsOf(message)`.
 * Cost: linear in the number of parts and the length of new text.
 */
export function createMessageSegmenter(): MessageSegmenter {
  const partStates: PartState[] = []
  const drift: Drift[] = []
  const calls = createCallIndex()
  let delivery: Delivery | null = null
  let segmentCount = 0
  let isDelivered = false
  const deliverSources = createSourceDelivery()
  return {
    drift,
    getReplyTo: () => delivery?.getReplyTo() ?? null,
    applyGrants(message) {
      const parts = message.parts.map((part, at) => {
        const partState = partStates[at]
        const grants = partState?.currentGrants?.()
        if (partState === undefined || part.type !== "text" || grants === (part.grants ?? NO_GRANTS)) return part
        if (grants === undefined) return part
        partState.lastPart = { ...part, grants }
        return partState.lastPart
      })
      return parts.every((part, at) => part === message.parts[at]) ? message : { ...message, parts }
    },
    advance(message, getAddedText, resolver) {
      const ops: Op[] = []
      const sharedDelivery = delivery ?? createDelivery(findAnsweredMessageId(message))
      delivery = sharedDelivery
      const callResolver = resolver === undefined ? null : withCallMedia(resolver, message)
      message.parts.forEach((part, at) => {
        const shared = { base: segmentCount, drift, delivery: sharedDelivery }
        const partState = partStates[at] ?? createPartState(at, part, shared, calls)
        partStates[at] = partState
        if (partState.lastPart === part) return
        if (part.type === "tool_call") calls.setCall(at, part.call)
        const partOps = partState.advance(part, getAddedText?.(at), callResolver)
        partState.lastPart = part
        segmentCount = countSegments(segmentCount, partOps)
        for (const op of partOps) ops.push(op)
      })
      if (message.status !== "completed") return ops
      if (!isDelivered) {
        const mediaOps = deliverMedia(message, sharedDelivery, segmentCount)
        segmentCount = countSegments(segmentCount, mediaOps)
        ops.push(...mediaOps)
      }
      isDelivered = true
      return [...ops, ...deliverSources(message, segmentCount)]
    },
  }
}

/**
 * Returns the id of the message that is being answered. An external answer has an exchange of its own, so it answers no
 * message (SPEC DR5).
 */
function findAnsweredMessageId({ mode, exchange_id }: Message): string | null {
  return mode === "external" ? null : exchange_id
}

/** Resolves assets of the message's own calls first, because these assets have the calls' voice flag. */
function withCallMedia(resolver: Resolver, message: Message): Resolver {
  return {
    ...resolver,
    findAsset: (id) =>
      listCallMedia(message)
        .filter(isAsset)
        .find((asset) => asset.id === id) ?? resolver.findAsset(id),
  }
}

function listCallMedia(message: Message): CallMedia[] {
  return listCalls(message).flatMap(({ channel, media }) => (channel === "user" ? media : []))
}

/** Appends the calls' media to a completed answer whose text placed no media (SPEC DR20). */
function deliverMedia(message: Message, delivery: Delivery, count: number): Op[] {
  if (delivery.hasMedia()) return []
  const callMedia = listCallMedia(message)
  if (callMedia.length > 0 && hasImageOf(callMedia, message)) return []
  const ops: Op[] = []
  for (const media of callMedia) {
    const segment = callMediaToSegment(media)
    if (segment !== null) ops.push(...delivery.showMedia(segment, count + ops.length))
  }
  return ops
}

function callMediaToSegment(media: CallMedia): MediaSegment | null {
  if (isAsset(media)) return assetToSegment(media)
  const segment = urlToMediaSegment(media.url)
  return media.voice === true && segment.kind === "audio" ? { ...segment, voice: true } : segment
}

/** Matches an image in Markdown syntax, which models often use instead of a directive. */
const IMAGE_LINK = /!\[[^\][]*\]\(\s*<?(\/media\/[\w-]+|https:[^\s<>)]+)/g

function hasImageOf(callMedia: readonly CallMedia[], { parts }: Message): boolean {
  const urls = new Set(callMedia.map((media) => (isAsset(media) ? assetUrl(media.id) : media.url)))
  const texts = parts.flatMap((part) => (part.type === "text" ? splitCode(part.text) : []))
  return texts.some(
    ({ code, text }) => !code && Array.from(text.matchAll(IMAGE_LINK)).some(([, url = ""]) => urls.has(url)),
  )
}

/** Returns the changes to fields other than the segments: status, end, summary. */
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

function createPartState(at: number, part: Part, shared: SharedContext, calls: CallIndex): PartState {
  const { base } = shared
  switch (part.type) {
    case "text":
      return createTextState({ ...shared, cueFor: calls.createCueLookupAt(at) })
    case "thinking":
      return createThinkingState(createSegmentWriter(base, (content) => ({ type: "thinking", content })))
    case "tool_call":
      return createToolState(createToolSegmenter(base))
  }
}

interface CallIndex {
  setCall(at: number, call: ToolCall): void
  /**
   * Creates a lookup of the cues for the part at `at`. The lookup includes results that arrive after it was created.
   */
  createCueLookupAt(at: number): (tag: string) => Cue | null
}

/**
 * Creates an index of a message's calls and their cues. Only calls on channel `user` that precede the text can cue a
 * card (SPEC SG3).
 */
function createCallIndex(): CallIndex {
  // Indexed by part, so the array has holes, which `filter` skips.
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

function createTextState(context: Omit<PartContext, "permit">): PartState {
  let length = 0
  const permit = createGrantDecider()
  const segmenter = createPartSegmenter({ ...context, permit, trimsMarkup: true })
  return {
    lastPart: null,
    currentGrants: permit.currentGrants,
    advance(part, addedText, resolver) {
      if (part.type !== "text") return []
      permit.setSource(part.grants ?? NO_GRANTS, resolver)
      const ops = part.text.length > length ? segmenter.push(addedText ?? part.text.slice(length)) : []
      length = part.text.length
      if (!part.open) for (const op of part.cut === true ? segmenter.interrupt() : segmenter.end()) ops.push(op)
      return ops
    },
  }
}

function createThinkingState(writer: SegmentWriter): PartState {
  let length = 0
  return {
    lastPart: null,
    advance(part, addedText) {
      if (part.type !== "thinking") return []
      const ops = writer.write(addedText ?? part.text.slice(length))
      length = part.text.length
      if (!part.open && part.ms !== null && writer.isOpen()) {
        ops.push({ op: "set", at: writer.at, fields: { ms: part.ms } })
      }
      return ops
    },
  }
}

function createToolState(segmentCall: (call: ToolCall) => Op[]): PartState {
  return { lastPart: null, advance: (part) => (part.type === "tool_call" ? segmentCall(part.call) : []) }
}
