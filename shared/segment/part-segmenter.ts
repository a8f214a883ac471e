/**
 * part-segmenter.ts: the text of one part becomes segments: prose, cards, canvases and media, each in its place.
 *
 * pieces → PART → segment
 * What was found is joined here to what is known of it: which call cued a card, which address may be framed, what the
 * message has shown already.
 * Pure. Same pieces, same ops.
 */

import type { Cue } from "../protocol/card-cue.ts"
import { canvasOf } from "./embed-directive.ts"
import type { Op, Segment } from "../protocol/frame.ts"
import type { Permit } from "./grant.ts"
import { LABEL, type MediaItem, type MediaSegment, mediaKey, toldOf } from "./media-directive.ts"
import { JOINER } from "../sanitize/clean-writer.ts"
import { createPieceScanner, type Directive, type Piece, readTag, type TagDirective } from "./text-tokens.ts"
import { isGlue } from "../sanitize/characters.ts"

/** Something in model text that did not fit; counted and logged, never shown as an error. */
export type Drift =
  | { readonly reason: "mark_orphan"; readonly tag: string }
  | { readonly reason: "mark_unclosed"; readonly tag: string }
  /** A value of a `MEDIA:` line, an embed, the id of a reply; or any directive inside a span. */
  | {
      readonly reason: "media_refused" | "embed_refused" | "reply_unknown" | "directive_in_span"
      readonly what: string
    }

/** What the parts of one message share: each address is delivered once, and its audio is a voice note or is not. */
export interface Delivery {
  /** Shows the media at `at`; no ops where the message has shown it. */
  media(segment: MediaSegment, at: number): Op[]
  /** Something was shown. */
  hasMedia(): boolean
  voice(): Op[]
  /** `id` null: to the message that is being answered, unless one is named. */
  reply(id: string | null): Op[]
  isVoice(): boolean
  replyTo(): string | null
}

/** `current` is the message that is being answered; null: there is none. */
export function createDelivery(current: string | null): Delivery {
  const seen = new Set<string>()
  const audio: number[] = []
  let isVoice = false
  let named: string | null = null
  let replyTo: string | null = null
  return {
    isVoice: () => isVoice,
    replyTo: () => replyTo,
    hasMedia: () => seen.size > 0,
    media(segment, at) {
      const key = mediaKey(segment.url)
      if (seen.has(key)) return []
      seen.add(key)
      if (segment.kind !== "audio" || segment.voice === true) return [{ op: "open", at, segment }]
      audio.push(at)
      return [{ op: "open", at, segment: isVoice ? { ...segment, voice: true } : segment }]
    },
    voice() {
      if (isVoice) return []
      isVoice = true
      return audio.map((at) => ({ op: "set", at, fields: { voice: true } }))
    },
    reply(id) {
      named = id ?? named
      const before = replyTo
      replyTo = named ?? current
      return replyTo === null || replyTo === before ? [] : [{ op: "meta", reply_to: replyTo }]
    },
  }
}

/** Writes one growing text, trimmed as a whole: leading white space goes, trailing white space waits. */
export interface Writer {
  readonly at: number
  isOpen(): boolean
  write(text: string): Op[]
}

export function createWriter(at: number, segmentWith: ((content: string) => Segment) | null): Writer {
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

export interface PartSegmenter {
  /** Takes more text of the part and tells what changes. */
  push(text: string): Op[]
  /** The part is over: what was held is settled. */
  end(): Op[]
  /** The part was ended from outside: what was held is settled, and a card that is open stays one. */
  cut(): Op[]
  readonly drift: readonly Drift[]
}

export interface PartContext {
  readonly cueFor: (tag: string) => Cue | null
  /** Segments that stand before the part. */
  readonly base: number
  readonly drift: Drift[]
  readonly delivery: Delivery
  /** What its directives may name. */
  readonly permit: Permit
}

/**
 * Cuts the text of one part at its marks and directives.
 *
 * Shapes  text → Op[].
 * Errors  none; drift.
 * Cost    one pass over the text.
 * Source  SPEC SG2–SG7, DR1–DR9.
 */
export function createPartSegmenter(context: PartContext): PartSegmenter {
  const scanner = createPieceScanner()
  const reader = new PartReader(context)
  let ended = false
  const settle = (isCut: boolean): Op[] => {
    if (ended) return []
    ended = true
    return [...reader.take(scanner.end()), ...reader.end(isCut)]
  }
  return {
    drift: context.drift,
    push: (text) => reader.take(scanner.push(text)),
    end: () => settle(false),
    cut: () => settle(true),
  }
}

/** Where one part stands: the prose that goes on, or the mark that is open. */
class PartReader {
  readonly #context: PartContext
  #prose: Writer
  #mark: OpenMark | null = null
  /** End of the text before what was taken out of it, while nothing stands behind that (`#isSeam`). */
  #last = ""
  #isSeam = false

  constructor(context: PartContext) {
    this.#context = context
    this.#prose = createTextWriter(context.base)
  }

  take(pieces: readonly Piece[]): Op[] {
    return pieces.flatMap((piece) =>
      this.#mark === null ? this.#takeOutside(piece) : this.#takeInside(piece, this.#mark),
    )
  }

  end(isCut: boolean): Op[] {
    const open = this.#mark
    return open === null || (isCut && open.cue !== null) ? [] : this.#abandonMark(open)
  }

  #nextAt(): number {
    return this.#prose.at + (this.#prose.isOpen() ? 1 : 0)
  }

  #takeOutside(piece: Piece): Op[] {
    switch (piece.type) {
      case "text":
        return this.#write(piece.text)
      case "open":
        return this.#openMark(piece.tag, piece.raw)
      case "close":
        return this.#write(piece.raw)
      case "refused":
        this.#context.drift.push({ reason: "media_refused", what: piece.value })
        return []
      case "media":
        return this.#takeMedia(piece)
      case "embed":
        return this.#takeEmbed(piece)
      case "voice":
      case "reply":
        return this.#takeTag(piece)
    }
  }

  /** In a mark a directive is words. */
  #takeInside(piece: Piece, open: OpenMark): Op[] {
    if (piece.type === "close") return this.#closeMark(open)
    if (piece.type === "refused") return []
    const words = piece.type === "text" ? piece.text : piece.raw
    if (piece.type !== "text" && piece.type !== "open") {
      this.#context.drift.push({ reason: "directive_in_span", what: piece.type })
    }
    open.raw.push(words)
    return open.inner.write(words)
  }

  #openMark(tag: string, raw: string): Op[] {
    const at = this.#nextAt()
    const cue = this.#context.cueFor(tag)
    const inner = cue === null ? createTextWriter(at) : createWriter(at, null)
    this.#mark = { tag, cue, raw: [raw], base: at, before: this.#prose, inner }
    return cue === null ? [] : [{ op: "open", at, segment: richSegment(tag, cue) }]
  }

  #closeMark(open: OpenMark): Op[] {
    if (open.cue === null) this.#context.drift.push({ reason: "mark_orphan", tag: open.tag })
    this.#prose = createTextWriter(open.base + (open.inner.isOpen() ? 1 : 0))
    this.#mark = null
    return []
  }

  #abandonMark(open: OpenMark): Op[] {
    this.#context.drift.push({ reason: "mark_unclosed", tag: open.tag })
    this.#prose = open.before
    this.#mark = null
    const cut: Op[] = open.inner.isOpen() ? [{ op: "cut", to: open.base }] : []
    return [...cut, ...this.#prose.write(open.raw.join(""))]
  }

  /** Where no value of a line is to be had all of it stays words. */
  #takeMedia({ raw, items }: Extract<Directive, { type: "media" }>): Op[] {
    const shown = items.map((item) => (item.type === "url" ? this.#context.permit.media(item.url) : null))
    const isWords = shown.every((segment) => segment === null)
    const label = isWords ? this.#write(raw.slice(0, LABEL.length)) : []
    return [...label, ...items.flatMap((item, i) => this.#takeItem(item, shown[i] ?? null))]
  }

  #takeItem(item: MediaItem, segment: MediaSegment | null): Op[] {
    if (item.type === "text") return this.#write(item.text)
    if (segment !== null) return this.#place(this.#context.delivery.media(segment, this.#nextAt()))
    if (item.type === "url") {
      this.#context.drift.push({ reason: "media_refused", what: toldOf(item.url) })
      return this.#write(item.raw)
    }
    const tag = readTag(item.raw)
    return tag === null ? this.#write(item.raw) : this.#takeTag(tag)
  }

  #takeTag(tag: TagDirective): Op[] {
    this.#isSeam = true
    const { delivery, drift, permit } = this.#context
    if (tag.type === "voice") return delivery.voice()
    if (tag.id === null || permit.isReply(tag.id)) return delivery.reply(tag.id)
    drift.push({ reason: "reply_unknown", what: tag.id })
    return []
  }

  #takeEmbed({ raw, attributes }: Extract<Directive, { type: "embed" }>): Op[] {
    const segment = canvasOf(attributes, this.#context.permit.isOrigin)
    if (segment !== null) return this.#place([{ op: "open", at: this.#nextAt(), segment }])
    const what = attributes.get("url") ?? attributes.get("ref") ?? "nothing"
    this.#context.drift.push({ reason: "embed_refused", what: toldOf(what) })
    return this.#write(raw)
  }

  /** What opens a segment ends the prose before it; without ops it has been shown before. */
  #place(ops: Op[]): Op[] {
    if (ops.length > 0) this.#prose = createTextWriter(this.#nextAt() + 1)
    this.#isSeam = ops.length === 0
    return ops
  }

  /** Two sides of something that was taken out make nothing new. */
  #write(text: string): Op[] {
    const glues = this.#isSeam && isGlue(this.#last, text.charAt(0))
    this.#isSeam = false
    this.#last = text.slice(-1)
    return this.#prose.write(glues ? JOINER + text : text)
  }
}

function richSegment(tag: string, cue: Cue): Segment {
  const call = cue.call_id === undefined ? {} : { call_id: cue.call_id }
  return { type: "rich", tag, payload: cue.payload, synthesis: "", ...call }
}
