/**
 * part-segmenter.ts: splits the text of one part into segments: prose, cards, canvases and media, in order.
 *
 * text tokens → PART → ops
 * Each token is interpreted in its context: which call cued a card, which URL may be framed, and which media the
 * message has already shown. Pure: the same tokens give the same ops.
 */

import type { Cue } from "../protocol/card-cue.ts"
import { embedToCanvas } from "./embed-directive.ts"
import type { Op, Segment } from "../protocol/segment.ts"
import type { Permit } from "./grant.ts"
import { MEDIA_LABEL, type MediaItem, type MediaSegment, urlToMediaKey, redactForLog } from "./media-directive.ts"
import { createProseEdges, PLAIN_EDGES, type ProseEdges } from "./prose-edges.ts"
import { WORD_JOINER } from "../sanitize/clean-writer.ts"
import {
  createTokenScanner,
  type Directive,
  type TextToken,
  parseBracketDirective,
  type BracketDirective,
} from "./text-tokens.ts"
import { isUnsafeJoin } from "../text/characters.ts"

/** A span or directive in model text that has no effect. Drift is counted and logged, never shown as an error. */
export type Drift =
  | { readonly reason: "mark_orphan"; readonly tag: string }
  | { readonly reason: "mark_unclosed"; readonly tag: string }
  /** `what` is the value of a `MEDIA:` line, the embed, the id of a reply, or the type of a directive inside a span. */
  | {
      readonly reason: "media_refused" | "embed_refused" | "reply_unknown" | "directive_in_span"
      readonly what: string
    }

/** The state that all parts of a message share: the media already shown, the voice flag, and the reply. */
export interface Delivery {
  /** Returns the ops that show the media at `at`; none if the message has already shown it. */
  showMedia(segment: MediaSegment, at: number): Op[]
  /** Returns whether any media was shown. */
  hasMedia(): boolean
  markVoice(): Op[]
  /**
   * Sets the message that the answer replies to. Null means the message that is being answered, unless an id was named
   * before.
   */
  setReply(id: string | null): Op[]
  isVoice(): boolean
  getReplyTo(): string | null
}

/** `current` is the id of the message that is being answered, or null if there is none. */
export function createDelivery(current: string | null): Delivery {
  const shownKeys = new Set<string>()
  const audioPositions: number[] = []
  let isVoice = false
  let namedReply: string | null = null
  let replyTo: string | null = null
  return {
    isVoice: () => isVoice,
    getReplyTo: () => replyTo,
    hasMedia: () => shownKeys.size > 0,
    showMedia(segment, at) {
      const mediaKey = urlToMediaKey(segment.url)
      if (shownKeys.has(mediaKey)) return []
      shownKeys.add(mediaKey)
      if (segment.kind !== "audio" || segment.voice === true) return [{ op: "open", at, segment }]
      audioPositions.push(at)
      return [{ op: "open", at, segment: isVoice ? { ...segment, voice: true } : segment }]
    },
    markVoice() {
      if (isVoice) return []
      isVoice = true
      return audioPositions.map((at) => ({ op: "set", at, fields: { voice: true } }))
    },
    setReply(id) {
      namedReply = id ?? namedReply
      const before = replyTo
      replyTo = namedReply ?? current
      return replyTo === null || replyTo === before ? [] : [{ op: "meta", reply_to: replyTo }]
    },
  }
}

/** Writes growing text and trims it: drops leading whitespace and buffers trailing whitespace. */
export interface SegmentWriter {
  readonly at: number
  isOpen(): boolean
  write(text: string): Op[]
}

export function createSegmentWriter(at: number, segmentWith: ((content: string) => Segment) | null): SegmentWriter {
  let length = 0
  let trailingSpace = ""
  // A writer without a segment of its own appends to an open one (a card's synthesis).
  let isOpen = segmentWith === null
  return {
    at,
    isOpen: () => isOpen,
    write(text) {
      const newText = length === 0 ? text.trimStart() : text
      const body = newText.trimEnd()
      if (body === "") {
        if (length > 0) trailingSpace += newText
        return []
      }
      const added = length === 0 ? body : trailingSpace + body
      trailingSpace = newText.slice(body.length)
      const offset = length
      length += added.length
      if (isOpen || segmentWith === null) return [{ op: "text", at, offset, text: added }]
      isOpen = true
      return [{ op: "open", at, segment: segmentWith(added) }]
    },
  }
}

function createTextSegmentWriter(at: number): SegmentWriter {
  return createSegmentWriter(at, (content) => ({ type: "text", content }))
}

/** A span whose `</span>` has not arrived, with what is needed if the `</span>` never arrives. */
interface OpenSpan {
  readonly tag: string
  readonly cue: Cue | null
  /** The opening tag and all text after it, as written. */
  readonly raw: string[]
  /** Number of segments before the span. */
  readonly base: number
  /** The writer of the text before the span, which continues if the span is never closed. */
  readonly before: SegmentWriter
  /** Markup before the span that is shown only if the span is never closed. */
  readonly removed: string
  /** Emphasis that was opened directly before the span. */
  readonly opener: string
  readonly inner: SegmentWriter
}

export interface PartSegmenter {
  /** Adds text. Returns the resulting ops. */
  push(text: string): Op[]
  /** Ends the part and resolves buffered text. */
  end(): Op[]
  /** Ends the part because its turn was cancelled or failed. An open card remains a card (SPEC SG5). */
  interrupt(): Op[]
  readonly drift: readonly Drift[]
}

export interface PartContext {
  readonly cueFor: (tag: string) => Cue | null
  /** The number of segments before the part. */
  readonly base: number
  readonly drift: Drift[]
  readonly delivery: Delivery
  /** Decides what the part's directives may name. */
  readonly permit: Permit
  /** Whether Markdown around a span is removed if the span leaves it without text (SPEC SG15). */
  readonly trimsMarkup?: boolean
}

/**
 * Creates a segmenter that splits the text of one part at its span tags and directives.
 *
 * Shapes: text → Op[].
 * Errors: none. Irregularities are added to `drift`.
 * Cost: one pass over the text.
 * Source: SPEC SG2–SG7, DR1–DR9.
 */
export function createPartSegmenter(context: PartContext): PartSegmenter {
  const scanner = createTokenScanner()
  const applier = new TokenApplier(context)
  let isEnded = false
  const finish = (isCut: boolean): Op[] => {
    if (isEnded) return []
    isEnded = true
    return [...applier.applyTokens(scanner.end()), ...applier.end(isCut)]
  }
  return {
    drift: context.drift,
    push: (text) => applier.applyTokens(scanner.push(text)),
    end: () => finish(false),
    interrupt: () => finish(true),
  }
}

/** Applies tokens one by one. The state is the current prose and, if there is one, the open span. */
class TokenApplier {
  readonly #context: PartContext
  #prose: SegmentWriter
  #edges: ProseEdges
  #span: OpenSpan | null = null
  /** The last character of the prose so far, and whether a directive was removed after it. */
  #last = ""
  #isSeam = false

  constructor(context: PartContext) {
    this.#context = context
    this.#prose = createTextSegmentWriter(context.base)
    this.#edges = this.#createEdges(null, true)
  }

  applyTokens(tokens: readonly TextToken[]): Op[] {
    return tokens.flatMap((token) =>
      this.#span === null ? this.#applyOutsideSpan(token) : this.#applyInsideSpan(token, this.#span),
    )
  }

  end(isCut: boolean): Op[] {
    const open = this.#span
    if (open === null) return this.#flushProse()
    return isCut && open.cue !== null ? [] : this.#abandonSpan(open)
  }

  #createEdges(opener: string | null, isLineStart: boolean): ProseEdges {
    return this.#context.trimsMarkup === true ? createProseEdges(opener, isLineStart) : PLAIN_EDGES
  }

  #flushProse(): Op[] {
    return this.#prose.write(this.#edges.flush())
  }

  #nextIndex(): number {
    return this.#prose.at + (this.#prose.isOpen() ? 1 : 0)
  }

  #applyOutsideSpan(token: TextToken): Op[] {
    switch (token.type) {
      case "text":
        return this.#writeProse(token.text)
      case "open":
        return this.#openSpan(token.tag, token.raw)
      case "close":
        return this.#writeProse(token.raw)
      case "refused":
        this.#context.drift.push({ reason: "media_refused", what: token.value })
        return []
      case "media":
        return this.#applyMedia(token)
      case "embed":
        return this.#applyEmbed(token)
      case "voice":
      case "reply":
        return this.#applyBracketDirective(token)
    }
  }

  /** Applies a token inside a span, where directives are text (SPEC DR8). */
  #applyInsideSpan(token: TextToken, open: OpenSpan): Op[] {
    if (token.type === "close") return this.#closeSpan(open)
    if (token.type === "refused") return []
    const text = token.type === "text" ? token.text : token.raw
    if (token.type !== "text" && token.type !== "open") {
      this.#context.drift.push({ reason: "directive_in_span", what: token.type })
    }
    open.raw.push(text)
    return open.inner.write(text)
  }

  #openSpan(tag: string, raw: string): Op[] {
    const { kept, removed, opener } = this.#edges.cutAtSpan()
    const ops = this.#prose.write(kept)
    const at = this.#nextIndex()
    const cue = this.#context.cueFor(tag)
    const inner = cue === null ? createTextSegmentWriter(at) : createSegmentWriter(at, null)
    this.#span = { tag, cue, raw: [raw], base: at, before: this.#prose, removed, opener, inner }
    return cue === null ? ops : [...ops, { op: "open", at, segment: createRichSegment(tag, cue) }]
  }

  #closeSpan(open: OpenSpan): Op[] {
    if (open.cue === null) this.#context.drift.push({ reason: "mark_orphan", tag: open.tag })
    this.#prose = createTextSegmentWriter(open.base + (open.inner.isOpen() ? 1 : 0))
    this.#edges = this.#createEdges(open.opener, false)
    this.#span = null
    return []
  }

  #abandonSpan(open: OpenSpan): Op[] {
    this.#context.drift.push({ reason: "mark_unclosed", tag: open.tag })
    this.#prose = open.before
    this.#span = null
    const cut: Op[] = open.inner.isOpen() ? [{ op: "cut", to: open.base }] : []
    return [...cut, ...this.#prose.write(open.removed + open.raw.join(""))]
  }

  /** Applies a `MEDIA:` line. If none of its values is accepted, the whole line remains text (SPEC DR2). */
  #applyMedia({ raw, items }: Extract<Directive, { type: "media" }>): Op[] {
    const shown = items.map((item) => (item.type === "url" ? this.#context.permit.resolveMedia(item.url) : null))
    const isPlainText = shown.every((segment) => segment === null)
    const label = isPlainText ? this.#writeProse(raw.slice(0, MEDIA_LABEL.length)) : []
    return [...label, ...items.flatMap((item, i) => this.#applyMediaItem(item, shown[i] ?? null))]
  }

  #applyMediaItem(item: MediaItem, segment: MediaSegment | null): Op[] {
    if (item.type === "text") return this.#writeProse(item.text)
    if (segment !== null) return this.#placeSegment((at) => this.#context.delivery.showMedia(segment, at))
    if (item.type === "url") {
      this.#context.drift.push({ reason: "media_refused", what: redactForLog(item.url) })
      return this.#writeProse(item.raw)
    }
    const tag = parseBracketDirective(item.raw)
    return tag === null ? this.#writeProse(item.raw) : this.#applyBracketDirective(tag)
  }

  #applyBracketDirective(tag: BracketDirective): Op[] {
    this.#isSeam = true
    const { delivery, drift, permit } = this.#context
    if (tag.type === "voice") return delivery.markVoice()
    if (tag.id === null || permit.isReplyAllowed(tag.id)) return delivery.setReply(tag.id)
    drift.push({ reason: "reply_unknown", what: tag.id === "" ? "nothing" : redactForLog(tag.id) })
    return []
  }

  #applyEmbed({ raw, attributes }: Extract<Directive, { type: "embed" }>): Op[] {
    const segment = embedToCanvas(attributes, this.#context.permit)
    if (segment !== null) return this.#placeSegment((at) => [{ op: "open", at, segment }])
    const what = attributes.get("url") ?? attributes.get("ref") ?? "nothing"
    this.#context.drift.push({ reason: "embed_refused", what: redactForLog(what) })
    return this.#writeProse(raw)
  }

  /** Adds a segment, which ends the prose before it. If `place` returns no ops, the media was already shown. */
  #placeSegment(place: (at: number) => Op[]): Op[] {
    const flushed = this.#flushProse()
    const ops = place(this.#nextIndex())
    this.#isSeam = ops.length === 0
    if (ops.length === 0) return flushed
    this.#prose = createTextSegmentWriter(this.#nextIndex() + 1)
    this.#edges = this.#createEdges(null, false)
    return [...flushed, ...ops]
  }

  /** Writes prose. Inserts a word joiner if the text on both sides of a removed directive would form new syntax. */
  #writeProse(text: string): Op[] {
    const needsJoiner = this.#isSeam && isUnsafeJoin(this.#last, text.charAt(0))
    this.#isSeam = false
    this.#last = text.slice(-1)
    return this.#prose.write(this.#edges.push(needsJoiner ? WORD_JOINER + text : text))
  }
}

function createRichSegment(tag: string, cue: Cue): Segment {
  const call = cue.call_id === undefined ? {} : { call_id: cue.call_id }
  const view = cue.view === undefined ? {} : { view: cue.view }
  return { type: "rich", tag, payload: cue.payload, synthesis: "", ...call, ...view }
}
