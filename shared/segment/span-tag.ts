/**
 * span-tag.ts: finds `<span id='tool_n'>` and `</span>` in clean text, also when they are cut.
 *
 * clean → event → fold → MARK → segment
 * Found as the regular expression of seed 000 §5.4 finds them, outside Markdown code and not after a backslash.
 * Pure. What has been reported after some text is a function of that text alone, however it was cut (SPEC MK4).
 */

import { MAX_PENDING_CHARS } from "../limits.ts"
import { WAIT } from "../text/fence.ts"
import { type Matcher, type Match, TextScanner, type PlainToken } from "../text/scanner.ts"

export type SpanToken =
  | PlainToken
  | { readonly type: "open"; readonly tag: string; readonly raw: string }
  | { readonly type: "close"; readonly raw: string }

/** A tag of a mark. */
export type SpanTag = Exclude<SpanToken, PlainToken>

export interface SpanScanner {
  push(text: string): SpanToken[]
  /** The text is over: what was held is settled. */
  end(): SpanToken[]
}

/**
 * Splits a growing text at its marks.
 *
 * Shapes  text → Mark[]; the texts and raws joined are the input.
 * Units   UTF-16 code units; what is held starts with a tag, or waits for inline code before it.
 * Errors  none.
 * Cost    one pass; several hundred MB/s where there are few candidates.
 * Source  SPEC MK1–MK6.
 */
export function createSpanScanner(): SpanScanner {
  const scanner = new TextScanner(new SpanMatcher())
  return {
    push: (text) => scanner.scan(text, false),
    end: () => scanner.scan("", true),
  }
}

/** A mark, as it must look. */
const OPEN_TAG = /^<span\s+id=['"]([a-z][a-z0-9_]*)_(\d+)['"]\s*>/i
const CLOSE_TAG = /^<\/span>/i
/** A beginning of either that reaches the end of the text. */
const OPEN_TAG_PREFIX =
  /^<(?:s(?:p(?:a(?:n)?)?)?|span\s+(?:i(?:d(?:=(?:['"](?:[a-z][a-z0-9_]*(?:(?<=_\d+)['"]\s*)?)?)?)?)?)?)?$/i
const CLOSE_TAG_PREFIX = /^<(?:\/(?:s(?:p(?:a(?:n)?)?)?)?)?$/i

class SpanMatcher implements Matcher<SpanTag> {
  /** A mark is open: only its end is looked for, all else is words. */
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
 * The next `<` that what is looked for may begin with: an opening tag, or in a mark its end. At the end of the text it
 * may yet be either.
 */
export function findSpanCandidate(text: string, from: number, inSpan: boolean): number {
  let at = text.indexOf("<", from)
  while (at >= 0 && at + 1 < text.length) {
    const second = text.charCodeAt(at + 1)
    if (inSpan ? second === SLASH : (second | 32) === LETTER_S) return at
    // A row of `<` is stepped over here: a search for each would cost more than all the rest.
    at = second === LESS ? at + 1 : text.indexOf("<", at + 1)
  }
  return at < 0 ? text.length : at
}

/** The tag that stands at a candidate: an opening one, or in a mark its end. WAIT if it may become one, null if there is none. */
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
 * Takes every opening mark and its `</span>` out of a text, and keeps what stands between.
 *
 * Shapes  text → text in which no mark opens, also where taking one out would form another.
 *         Code counts as text here: what a subagent says may quote no mark. Other spans stay.
 * Cost    linear.
 * Source  SPEC MK6.
 */
export function stripSpans(text: string | null | undefined): string {
  if (text === null || text === undefined || !ANY_OPEN_TAG.test(text)) return text ?? ""
  // Each `<` starts a piece, so that a tag that is taken out is the tail of `pieces`.
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

/** The pieces end with `>`: is their tail a mark, or the end of one? `spans` tells which open spans are marks. */
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
