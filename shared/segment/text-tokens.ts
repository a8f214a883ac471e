/**
 * text-tokens.ts: finds span tags and directives in one text part, in one pass, however the text is split.
 *
 * clean text → TOKENS → part-segmenter → ops
 * One scanner finds both, so that code and nesting are determined only once. part-segmenter.ts decides what a token
 * means: whether it is cued, allowed, or already shown. Pure.
 */

import { type EmbedAttributes, readEmbed } from "./embed-directive.ts"
import { MAX_PENDING_CHARS } from "../limits.ts"
import { WAIT } from "../text/fence.ts"
import { findSpanCandidate, matchSpanTag, type SpanTag } from "./span-tag.ts"
import { type MediaItem, readMediaLine, findMediaLabel } from "./media-directive.ts"
import { type Match, buildPrefixPattern, TextScanner, type Matcher, type PlainToken } from "../text/scanner.ts"

export type Directive =
  | { readonly type: "media"; readonly raw: string; readonly items: readonly MediaItem[] }
  | { readonly type: "voice"; readonly raw: string }
  /** `id`: null means the message that is being answered. A string may be a malformed id. */
  | { readonly type: "reply"; readonly raw: string; readonly id: string | null }
  | { readonly type: "embed"; readonly raw: string; readonly attributes: EmbedAttributes }

export type BracketDirective = Extract<Directive, { type: "voice" | "reply" }>

/** A value in a `MEDIA:` line that is not media and therefore remains text. */
export interface RefusedMedia {
  readonly type: "refused"
  readonly value: string
}

export type TextToken = PlainToken | SpanTag | Directive | RefusedMedia

export interface TokenScanner {
  push(text: string): TextToken[]
  /** Ends the text and resolves buffered text. */
  end(): TextToken[]
}

/**
 * Creates a scanner that splits growing text at its span tags and directives.
 *
 * Shapes: text → TextToken[]. Joining the `text` and `raw` fields gives the input.
 * Errors: none.
 * Cost: one pass.
 * Source: SPEC MK1–MK5, DR1–DR9.
 */
export function createTokenScanner(): TokenScanner {
  const scanner = new TextScanner(new TokenMatcher())
  return {
    push: (text) => scanner.scan(text, false),
    end: () => scanner.scan("", true),
  }
}

type MarkupToken = Exclude<TextToken, PlainToken>

class TokenMatcher implements Matcher<MarkupToken> {
  /** Whether a span is open. No directive extends past the end of an open span. */
  #inSpan = false
  #head = 0
  /**
   * The index of the next candidate of each kind, so that a search for one kind does not repeat the others; -1 if
   * unknown.
   */
  #nextSpan = -1
  #nextBracket = -1
  #nextLabel = -1
  /** The index of the next `</span>`. */
  #nextClose = -1

  startText(head: number): void {
    this.#head = head
    this.#nextSpan = this.#nextBracket = this.#nextLabel = this.#nextClose = -1
  }

  findCandidate(text: string, from: number): number {
    if (this.#nextSpan < from) this.#nextSpan = findSpanCandidate(text, from, this.#inSpan)
    if (this.#nextBracket < from) this.#nextBracket = findBracket(text, from)
    if (this.#nextLabel < from) this.#nextLabel = findMediaLabel(text, from, this.#head)
    return Math.min(this.#nextSpan, this.#nextBracket, this.#nextLabel)
  }

  matchAt(text: string, at: number, final: boolean): Match<MarkupToken> | typeof WAIT | null {
    if (text.charCodeAt(at) === LESS) return matchSpanTag(text, at, final, this.#inSpan)
    if (!this.#inSpan) return matchDirective(text, at, final)
    if (this.#nextClose < at) this.#nextClose = findSpanClose(text, at)
    return matchDirective(text.slice(0, this.#nextClose), at, final || this.#nextClose < text.length)
  }

  acceptMatch({ tokens: [token] }: Match<MarkupToken>): void {
    if (token?.type !== "open" && token?.type !== "close") return
    this.#inSpan = token.type === "open"
    this.#nextSpan = this.#nextClose = -1
  }
}

/** Returns the index of the next `[` that may begin a directive, or the length of the text. */
function findBracket(text: string, from: number): number {
  let at = text.indexOf("[", from)
  while (at >= 0 && at + 1 < text.length) {
    const second = text.charCodeAt(at + 1)
    if (second === BRACKET || (second | 32) === LETTER_E) return at
    at = text.indexOf("[", at + 1)
  }
  return at < 0 ? text.length : at
}

function findSpanClose(text: string, from: number): number {
  SPAN_CLOSE.lastIndex = from
  return SPAN_CLOSE.test(text) ? SPAN_CLOSE.lastIndex - "</span>".length : text.length
}

const SPAN_CLOSE = /<\/span>/gi

function matchDirective(
  text: string,
  at: number,
  final: boolean,
): Match<Directive | RefusedMedia> | typeof WAIT | null {
  if (text.charCodeAt(at) !== BRACKET) return matchMediaLine(text, at, final)
  if (text.length > at + 1 && text.charCodeAt(at + 1) !== BRACKET) return matchEmbed(text, at, final)
  return matchBracketTag(text, at, final)
}

function matchMediaLine(
  text: string,
  at: number,
  final: boolean,
): Match<Directive | RefusedMedia> | typeof WAIT | null {
  const line = readMediaLine(text, at, final)
  if (line === null || line === WAIT) return line
  const { items, end } = line
  const refused = line.refused.map((value): RefusedMedia => ({ type: "refused", value }))
  if (items.length === 0) return refused.length === 0 ? null : { tokens: refused, end: at }
  return { tokens: [{ type: "media", raw: text.slice(at, end), items }, ...refused], end }
}

function matchEmbed(text: string, at: number, final: boolean): Match<Directive> | typeof WAIT | null {
  const embed = readEmbed(text, at, final)
  if (embed === null || embed === WAIT) return embed
  return { tokens: [{ type: "embed", ...embed }], end: at + embed.raw.length }
}

const REPLY_VALUE = "(?:[^\\n[\\]]|\\[[^\\n[\\]]*\\])*"
const BRACKET_TAG = new RegExp(
  `^\\[\\[[ \\t]*(?:(audio_as_voice)[ \\t]*|(reply_to_current)[ \\t]*|reply_to((?:[ \\t:]${REPLY_VALUE})?))\\]\\]`,
  "i",
)
const BRACKET_TAG_END = "[ \\t]*\\]?"
const BRACKET_TAG_PREFIX = new RegExp(
  `^\\[(?:\\[[ \\t]*(?:${[
    buildPrefixPattern("audio_as_voice", BRACKET_TAG_END),
    buildPrefixPattern("reply_to_current", BRACKET_TAG_END),
    `reply_to(?:[ \\t:]${REPLY_VALUE}(?:\\[[^\\n[\\]]*)?)?\\]?`,
  ].join("|")})?)?$`,
  "i",
)

/** Matches `[[…]]` at `at`. */
function matchBracketTag(text: string, at: number, final: boolean): Match<Directive> | typeof WAIT | null {
  const head = text.slice(at, at + MAX_PENDING_CHARS)
  const directive = parseBracketDirective(head)
  if (directive !== null) return { tokens: [directive], end: at + directive.raw.length }
  if (final || head.length === MAX_PENDING_CHARS) return null
  return BRACKET_TAG_PREFIX.test(head) ? WAIT : null
}

/** Returns the directive in double square brackets at the start of `text`, or null. */
export function parseBracketDirective(text: string): BracketDirective | null {
  const found = BRACKET_TAG.exec(text)
  if (found === null) return null
  const [raw, voice, , target] = found
  if (voice !== undefined) return { type: "voice", raw }
  return { type: "reply", raw, id: target === undefined ? null : target.trim().replace(/^:\s*/, "") }
}

const LESS = 60
const BRACKET = 91
const LETTER_E = 101
