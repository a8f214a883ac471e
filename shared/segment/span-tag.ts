/**
 * span-tag.ts: finds `<span id='tool_n'>` and `</span>` in sanitised text, however the text is split.
 *
 * Tags in Markdown code and after a backslash do not count (SPEC MK1–MK3). Pure: the tokens reported so far depend only
 * on the text so far, not on how the text was split (SPEC MK4).
 */

import { MAX_PENDING_CHARS } from "../limits.ts"
import { WAIT } from "../text/fence.ts"
import { type Matcher, type Match, TextScanner, type PlainToken } from "../text/scanner.ts"

export type SpanToken =
  | PlainToken
  | { readonly type: "open"; readonly tag: string; readonly raw: string }
  | { readonly type: "close"; readonly raw: string }

/** An opening or closing tag of a span. */
export type SpanTag = Exclude<SpanToken, PlainToken>

export interface SpanScanner {
  push(text: string): SpanToken[]
  /** Ends the text and resolves buffered text. */
  end(): SpanToken[]
}

/**
 * Creates a scanner that splits growing text at its span tags.
 *
 * Shapes: text → SpanToken[]. Joining the `text` and `raw` fields gives the input.
 * Units: UTF-16 code units. Buffered text begins with a possible tag or with unfinished inline code.
 * Errors: none.
 * Cost: one pass; several hundred MB/s if there are few candidates.
 * Source: SPEC MK1–MK6.
 */
export function createSpanScanner(): SpanScanner {
  const scanner = new TextScanner(new SpanMatcher())
  return {
    push: (text) => scanner.scan(text, false),
    end: () => scanner.scan("", true),
  }
}

/** Matches a complete opening tag. */
const OPEN_TAG = /^<span\s+id=['"]([a-z][a-z0-9_]*)_(\d+)['"]\s*>/i
const CLOSE_TAG = /^<\/span>/i
/** Matches an incomplete tag at the end of the text. */
const OPEN_TAG_PREFIX =
  /^<(?:s(?:p(?:a(?:n)?)?)?|span\s+(?:i(?:d(?:=(?:['"](?:[a-z][a-z0-9_]*(?:(?<=_\d+)['"]\s*)?)?)?)?)?)?)?$/i
const CLOSE_TAG_PREFIX = /^<(?:\/(?:s(?:p(?:a(?:n)?)?)?)?)?$/i

class SpanMatcher implements Matcher<SpanTag> {
  /** Whether a span is open. If so, only its `</span>` counts; everything else is text. */
  #inSpan = false

  startText(): void {}

  findCandidate(text: string, from: number): number {
    return findSpanCandidate(text, from, this.#inSpan)
  }

  matchAt(text: string, at: number, final: boolean): Match<SpanTag> | typeof WAIT | null {
    return matchSpanTag(text, at, final, this.#inSpan)
  }

  acceptMatch({ tokens: [tag] }: Match<SpanTag>): void {
    this.#inSpan = tag?.type === "open"
  }
}

const SLASH = 47
const LESS = 60
const LETTER_S = 115

/**
 * Returns the index of the next `<` that may begin an opening tag or, inside a span, the closing tag. A `<` at the end
 * of the text may still become such a tag.
 */
export function findSpanCandidate(text: string, from: number, inSpan: boolean): number {
  let at = text.indexOf("<", from)
  while (at >= 0 && at + 1 < text.length) {
    const second = text.charCodeAt(at + 1)
    if (inSpan ? second === SLASH : (second | 32) === LETTER_S) return at
    // A run of `<` is skipped character by character, because a search for each `<` would dominate the cost.
    at = second === LESS ? at + 1 : text.indexOf("<", at + 1)
  }
  return at < 0 ? text.length : at
}

/**
 * Returns the opening tag at a candidate or, inside a span, the closing tag; WAIT if further text may complete such a
 * tag, null if there is none.
 */
export function matchSpanTag(
  text: string,
  at: number,
  final: boolean,
  inSpan: boolean,
): Match<SpanTag> | typeof WAIT | null {
  const head = text.slice(at, at + MAX_PENDING_CHARS)
  const found = (inSpan ? CLOSE_TAG : OPEN_TAG).exec(head)
  if (found !== null) {
    const [raw] = found
    const tag: SpanTag = inSpan ? { type: "close", raw } : { type: "open", tag: `${found[1]}_${found[2]}`, raw }
    return { tokens: [tag], end: at + raw.length }
  }
  if (final || head.length === MAX_PENDING_CHARS) return null
  return (inSpan ? CLOSE_TAG_PREFIX : OPEN_TAG_PREFIX).test(head) ? WAIT : null
}

/**
 * Removes every opening span tag and its `</span>`, and keeps the text between them.
 *
 * Shapes: text → text without any opening span tag, even where removing one tag would form another.
 *         Code counts as text here, because a subagent's text must not even quote a tag. Other spans remain.
 * Cost: linear in the length of the text.
 * Source: SPEC MK6.
 */
export function stripSpans(text: string | null | undefined): string {
  if (text === null || text === undefined || !ANY_OPEN_TAG.test(text)) return text ?? ""
  // Each `<` starts a fragment, so that the tag to remove is always the tail of `fragments`.
  const fragments: string[] = []
  const tagStarts: number[] = []
  const openSpans: boolean[] = []
  let at = 0
  while (at < text.length) {
    ANGLE_BRACKET.lastIndex = at + 1
    const next = ANGLE_BRACKET.exec(text)?.index ?? text.length
    const end = text[next] === ">" ? next + 1 : next
    if (text[at] === "<") tagStarts.push(fragments.length)
    fragments.push(text.slice(at, end))
    if (text[end - 1] === ">") removeTag(fragments, tagStarts, openSpans)
    at = end
  }
  return fragments.join("")
}

const ANY_OPEN_TAG = /<span\s+id=['"][a-z][a-z0-9_]*_\d+['"]\s*>/i
const ANGLE_BRACKET = /[<>]/g

/**
 * Removes the tag at the end of the fragments if it opens or closes a span with a tag id. `openSpans` has one entry per
 * open span.
 */
function removeTag(fragments: string[], tagStarts: number[], openSpans: boolean[]): void {
  const start = tagStarts.pop()
  if (start === undefined) return
  const tag = fragments.slice(start).join("")
  const isOpening = ANY_OPEN_TAG.test(tag)
  const isClosing = CLOSE_TAG.test(tag)
  if (isOpening || /^<span[\s/>]/i.test(tag)) openSpans.push(isOpening)
  if (isOpening || (isClosing && openSpans.pop() === true)) fragments.length = start
  else tagStarts.length = 0
}
