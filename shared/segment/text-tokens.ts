/**
 * text-tokens.ts: marks and directives of one text part, found in one pass, also when they are cut.
 *
 * clean → event → fold → PIECE → part → segment
 * One scanner for both, so that what is code, and what stands inside what, is decided once. What it means for the reader
 * (is it cued, allowed, told before?) is decided in part.ts.
 * Pure.
 */

import { type EmbedAttributes, embedAt } from "./embed-directive.ts"
import { MAX_HELD } from "../limits.ts"
import { WAIT } from "../text/fence.ts"
import { candidateIn, markAt, type Tagged } from "./span-tag.ts"
import { type MediaItem, mediaAt, nextLabel } from "./media-directive.ts"
import { type Found, prefixes, Scanner, type Seeker, type TextPiece } from "../text/scanner.ts"

export type Directive =
  | { readonly type: "media"; readonly raw: string; readonly items: readonly MediaItem[] }
  | { readonly type: "voice"; readonly raw: string }
  /** `id` null: to the message that is being answered. */
  | { readonly type: "reply"; readonly raw: string; readonly id: string | null }
  | { readonly type: "embed"; readonly raw: string; readonly attributes: EmbedAttributes }

export type TagDirective = Extract<Directive, { type: "voice" | "reply" }>

/** A value of a `MEDIA:` line that is no media; its words stay text. */
export interface Refused {
  readonly type: "refused"
  readonly value: string
}

export type Piece = TextPiece | Tagged | Directive | Refused

export interface PieceScanner {
  push(text: string): Piece[]
  /** The text is over: what was held is settled. */
  end(): Piece[]
}

/**
 * Splits a growing text at its marks and directives.
 *
 * Shapes  text → Piece[]; texts and raws joined are the input.
 * Errors  none.
 * Cost    one pass.
 * Source  SPEC MK1–MK5, DR1–DR9.
 */
export function createPieceScanner(): PieceScanner {
  const scanner = new Scanner(new PieceSeeker())
  return {
    push: (text) => scanner.scan(text, false),
    end: () => scanner.scan("", true),
  }
}

type Other = Exclude<Piece, TextPiece>

class PieceSeeker implements Seeker<Other> {
  /** A mark is open: nothing reaches past its end. */
  #inMark = false
  #head = 0
  /** The next of each kind, so that looking for one does not look for all again; -1 if not known. */
  #mark = -1
  #bracket = -1
  #label = -1
  /** The next end of a mark. */
  #close = -1

  begin(head: number): void {
    this.#head = head
    this.#mark = this.#bracket = this.#label = this.#close = -1
  }

  next(text: string, from: number): number {
    if (this.#mark < from) this.#mark = candidateIn(text, from, this.#inMark)
    if (this.#bracket < from) this.#bracket = nextBracket(text, from)
    if (this.#label < from) this.#label = nextLabel(text, from, this.#head)
    return Math.min(this.#mark, this.#bracket, this.#label)
  }

  at(text: string, at: number, final: boolean): Found<Other> | typeof WAIT | null {
    if (text.charCodeAt(at) === LESS) return markAt(text, at, final, this.#inMark)
    if (!this.#inMark) return directiveAt(text, at, final)
    if (this.#close < at) this.#close = closeAfter(text, at)
    return directiveAt(text.slice(0, this.#close), at, final || this.#close < text.length)
  }

  take({ pieces: [piece] }: Found<Other>): void {
    if (piece?.type !== "open" && piece?.type !== "close") return
    this.#inMark = piece.type === "open"
    this.#mark = this.#close = -1
  }
}

/** The next `[` that a directive may begin with, or the end of the text. */
function nextBracket(text: string, from: number): number {
  let at = text.indexOf("[", from)
  while (at >= 0 && at + 1 < text.length) {
    const second = text.charCodeAt(at + 1)
    if (second === BRACKET || (second | 32) === LETTER_E) return at
    at = text.indexOf("[", at + 1)
  }
  return at < 0 ? text.length : at
}

function closeAfter(text: string, from: number): number {
  CLOSE.lastIndex = from
  return CLOSE.test(text) ? CLOSE.lastIndex - "</span>".length : text.length
}

const CLOSE = /<\/span>/gi

function directiveAt(text: string, at: number, final: boolean): Found<Directive | Refused> | typeof WAIT | null {
  if (text.charCodeAt(at) !== BRACKET) return mediaLineAt(text, at, final)
  if (text.length > at + 1 && text.charCodeAt(at + 1) !== BRACKET) return embedPieceAt(text, at, final)
  return tagAt(text, at, final)
}

function mediaLineAt(text: string, at: number, final: boolean): Found<Directive | Refused> | typeof WAIT | null {
  const line = mediaAt(text, at, final)
  if (line === null || line === WAIT) return line
  const { items, end } = line
  const refused = line.refused.map((value): Refused => ({ type: "refused", value }))
  if (items.length === 0) return refused.length === 0 ? null : { pieces: refused, end: at }
  return { pieces: [{ type: "media", raw: text.slice(at, end), items }, ...refused], end }
}

function embedPieceAt(text: string, at: number, final: boolean): Found<Directive> | typeof WAIT | null {
  const embed = embedAt(text, at, final)
  if (embed === null || embed === WAIT) return embed
  return { pieces: [{ type: "embed", ...embed }], end: at + embed.raw.length }
}

const TAG = /^\[\[[ \t]*(?:(audio_as_voice)|(reply_to_current)|reply_to[ \t]*:[ \t]*([^\s[\]]+))[ \t]*\]\]/i
const TAG_END = "[ \\t]*\\]?"
const TAG_PART = new RegExp(
  `^\\[(?:\\[[ \\t]*(?:${[
    prefixes("audio_as_voice", TAG_END),
    prefixes("reply_to_current", TAG_END),
    `reply_to[ \\t]*(?::[ \\t]*(?:[^\\s[\\]]+${TAG_END})?)?`,
  ].join("|")})?)?$`,
  "i",
)

/** `[[…]]` at `at`. */
function tagAt(text: string, at: number, final: boolean): Found<Directive> | typeof WAIT | null {
  const start = text.slice(at, at + MAX_HELD)
  const piece = readTag(start)
  if (piece !== null) return { pieces: [piece], end: at + piece.raw.length }
  if (final || start.length === MAX_HELD) return null
  return TAG_PART.test(start) ? WAIT : null
}

/** The directive in double brackets that a text begins with. */
export function readTag(text: string): TagDirective | null {
  const found = TAG.exec(text)
  if (found === null) return null
  const [raw, voice, , id = null] = found
  return voice === undefined ? { type: "reply", raw, id } : { type: "voice", raw }
}

const LESS = 60
const BRACKET = 91
const LETTER_E = 101
