/**
 * scanner.ts: finds tokens in sanitised text, ignoring Markdown code and escaped characters.
 *
 * clean → event → fold → SCANNER → segmenter
 * A matcher defines the tokens: span tags, or span tags and directives. However the text is split into chunks, the
 * reported tokens are the same (SPEC MK4, DR9).
 */

import { InlineCodeFinder } from "./code-tracker.ts"
import { MAX_PENDING_CHARS } from "../limits.ts"
import {
  createLineState,
  enterFence,
  matchFence,
  skipFence,
  trackText,
  type LineState,
  findRunEnd,
  startLine,
  TEXT,
  WAIT,
} from "./fence.ts"
import { findTrailingTildes } from "./characters.ts"

export interface PlainToken {
  readonly type: "text"
  readonly text: string
}

/**
 * A match at a candidate: the tokens, and the offset at which the text continues (the candidate's own offset for a
 * zero-width match).
 */
export interface Match<P> {
  readonly tokens: readonly P[]
  readonly end: number
}

/** Defines the tokens to find. Between calls to `startText`, the positions passed to the matcher only increase. */
export interface Matcher<P> {
  /** Called when new text begins. `indent` is the result of `countIndent` for the text before it. */
  startText(indent: number): void
  /** Returns the index of the next possible token, or the end of the text. */
  findCandidate(text: string, from: number): number
  /** Returns the match at a candidate; WAIT if further text may complete a match, null if none is possible. */
  matchAt(text: string, at: number, final: boolean): Match<P> | typeof WAIT | null
  /** Called when a match turns out to be outside code, just before it is reported. */
  acceptMatch(found: Match<P>): void
}

/** Returns the source of a regular expression that matches any prefix of `word`, and `word` followed by `rest`. */
export function buildPrefixPattern(word: string, rest: string): string {
  const units = [...word].map((unit) => (/\w/.test(unit) ? unit : `\\${unit}`))
  return units.reduceRight((after, unit) => `${unit}(?:${after})?`, rest)
}

/**
 * Returns the number of spaces (at most three) at the start of the line in which `text` ends, or -1 if the line
 * contains other text. `before` is the result for the preceding text.
 */
export function countIndent(before: number, text: string): number {
  const newline = text.lastIndexOf("\n")
  const from = newline < 0 ? before : 0
  const size = text.length - newline - 1
  if (from < 0 || from + size > 3) return size === 0 ? from : -1
  for (let at = newline + 1; at < text.length; at++) if (text[at] !== " ") return -1
  return from + size
}

export class TextScanner<P> {
  readonly #matcher: Matcher<P>
  /** The text in which code has not been determined yet. Its first `#reported` code units have been reported. */
  #text = ""
  #reported = 0
  /** The index up to which code has been determined. */
  #settled = 0
  readonly #line: LineState = createLineState()
  /** The index up to which the line is tracked. */
  #trackedTo = 0
  readonly #inlineCode = new InlineCodeFinder()
  /** Whether the text follows an odd number of backslashes. */
  #isEscapedStart = false
  /** Whether the text continues a run of backticks that is too long to be code. */
  #inRun = false
  /** Results of `countIndent`: before `#text`, and after all text so far. */
  #indent = 0
  #endIndent = 0
  #tokens: (P | PlainToken)[] = []
  /** Text after `#text` that contains no candidates. All of it has been reported. */
  #plain: string[] = []
  #plainLength = 0
  /**
   * The index of the next backtick, candidate, `~~~`, ```` ``` ```` and blank line, or the end of the text; -1 if
   * unknown.
   */
  #nextBacktick = -1
  #nextCandidate = -1
  #nextTildes = -1
  #nextTripleBackticks = -1
  #nextBlankLine = -1
  /** The index of the last run that was tried and did not open a fence. */
  #rejectedRun = -1

  constructor(matcher: Matcher<P>) {
    this.#matcher = matcher
  }

  scan(chunk: string, final: boolean): (P | PlainToken)[] {
    this.#tokens = []
    this.#nextCandidate = -1
    const indent = this.#endIndent
    this.#endIndent = countIndent(indent, chunk)
    if (this.#reported === this.#text.length) {
      this.#matcher.startText(indent)
      const candidate = this.#matcher.findCandidate(chunk, 0)
      if (candidate === chunk.length && !this.#reportPlain(chunk)) return this.#tokens
      // Everything before this chunk has been reported, so the candidate is the first possible token.
      this.#nextCandidate = this.#text.length + this.#plainLength + candidate
    }
    this.#text = this.#mergePlain(chunk)
    this.#matcher.startText(this.#indent)
    this.#settleCode(final)
    this.#reportText(this.#settled === this.#text.length ? this.#settled : this.#findFirstPending(final))
    this.#discardSettled()
    return this.#tokens
  }

  /**
   * Reports a chunk that has no candidates as text, whether or not it is code. If the buffer would become too large,
   * returns true and reports nothing.
   */
  #reportPlain(chunk: string): boolean {
    if (this.#plainLength + chunk.length >= MAX_PLAIN_CHARS) return true
    if (chunk === "") return false
    this.#tokens.push({ type: "text", text: chunk })
    this.#plain.push(chunk)
    this.#plainLength += chunk.length
    return false
  }

  #mergePlain(chunk: string): string {
    if (this.#plain.length === 0) return this.#text === "" ? chunk : this.#text + chunk
    this.#reported += this.#plainLength
    const text = this.#text + this.#plain.join("") + chunk
    this.#plain = []
    this.#plainLength = 0
    return text
  }

  #settleCode(final: boolean): void {
    this.#nextBacktick = this.#nextTildes = this.#nextTripleBackticks = this.#nextBlankLine = this.#rejectedRun = -1
    let at = 0
    while (at < this.#text.length) {
      const next = this.#line.fence === null ? this.#settleNext(at, final) : this.#skipFence(at)
      if (next === WAIT) break
      at = next
      this.#settled = at
    }
  }

  #skipFence(at: number): number {
    this.#trackedTo = skipFence(this.#line, this.#text, at)
    return this.#trackedTo
  }

  /**
   * Determines what is code up to and including the next special character. Returns the index after that character, or
   * WAIT.
   */
  #settleNext(at: number, final: boolean): number {
    const text = this.#text
    if (this.#inRun) {
      const end = text[at] === "`" ? findRunEnd(text, at) : at
      this.#inRun = end === text.length
      if (end > at) return end
    }
    const skipped = this.#skipIrrelevantCode(at, final)
    if (skipped > at) return skipped
    if (this.#nextBacktick < at) this.#nextBacktick = indexOfOr(text, "`", at, text.length)
    const next = Math.min(this.#nextBacktick, this.#nextCandidate, this.#nextTildes)
    if (next === text.length) return next
    this.#settled = next
    if (next === this.#nextTildes) return this.#settleTildes(next, final)
    if (this.#isEscaped(next)) return next + 1
    return next === this.#nextBacktick ? this.#settleBackticks(next, final) : this.#settleCandidate(next, final)
  }

  /**
   * Skips to a blank line, or into a fence, before the next candidate, because inline code before that position doesn't
   * matter. Returns `at` if there is neither.
   */
  #skipIrrelevantCode(at: number, final: boolean): number {
    const text = this.#text
    if (this.#nextCandidate < at) this.#nextCandidate = this.#matcher.findCandidate(text, at)
    if (this.#nextTildes < at)
      this.#nextTildes = indexOfOr(text, "~~~", at, final ? text.length : findTrailingTildes(text, at))
    if (this.#nextTripleBackticks < at) this.#nextTripleBackticks = indexOfOr(text, "```", at, text.length)
    if (this.#nextBlankLine < at) this.#nextBlankLine = indexOfOr(text, "\n\n", at, text.length)
    const run = Math.min(this.#nextTildes, this.#nextTripleBackticks)
    const stop = Math.min(this.#nextCandidate, run)
    if (this.#nextBlankLine < stop) {
      const start = text.lastIndexOf("\n\n", stop - 1) + 1
      startLine(this.#line)
      this.#trackedTo = start
      return start
    }
    if (stop < run || run === text.length || run === this.#rejectedRun) return at
    const end = this.#tryEnterFence(run, findRunEnd(text, run), final)
    if (end >= 0) return end
    this.#rejectedRun = run
    return at
  }

  #settleTildes(at: number, final: boolean): number {
    const end = findRunEnd(this.#text, at)
    const fence = this.#tryEnterFence(at, end, final)
    return fence === TEXT ? end : fence
  }

  /** Enters the fence that the run from `at` to `end` opens. Returns the end of the run, TEXT or WAIT. */
  #tryEnterFence(at: number, end: number, final: boolean): number {
    this.#trackLine(at)
    const fence = this.#line.place === "head" ? matchFence(this.#text, at, final, end) : TEXT
    if (fence < 0) return fence
    enterFence(this.#line, this.#text.charAt(at), end - at)
    this.#trackedTo = end
    return end
  }

  #settleBackticks(at: number, final: boolean): number {
    const text = this.#text
    const end = findRunEnd(text, at)
    const size = end - at
    if (end === text.length && !final) {
      if (size <= MAX_PENDING_CHARS) return WAIT
      this.#inRun = true
      return end
    }
    const fence = size >= 3 ? this.#tryEnterFence(at, end, final) : TEXT
    if (fence !== TEXT) return fence
    const closerEnd = this.#inlineCode.findCloser(text, at, size, final)
    return closerEnd === TEXT ? end : closerEnd
  }

  #settleCandidate(at: number, final: boolean): number {
    const match = this.#matcher.matchAt(this.#text, at, final)
    if (match === null) return at + 1
    if (match === WAIT) return WAIT
    this.#matcher.acceptMatch(match)
    this.#nextCandidate = -1
    this.#reportText(at)
    for (const token of match.tokens) this.#tokens.push(token)
    if (match.end === at) return at + 1
    this.#reported = match.end
    return match.end
  }

  /** Returns the index of the first possible token in undecided text. Text before that index can be reported now. */
  #findFirstPending(final: boolean): number {
    const text = this.#text
    let at = Math.max(this.#reported, this.#settled)
    for (;;) {
      at = this.#matcher.findCandidate(text, at)
      if (at === text.length || (!this.#isEscaped(at) && this.#matcher.matchAt(text, at, final) !== null)) return at
      at++
    }
  }

  #isEscaped(at: number): boolean {
    let from = at
    while (from > 0 && this.#text.charCodeAt(from - 1) === BACKSLASH) from--
    return ((at - from) % 2 === 1) !== (from === 0 && this.#isEscapedStart)
  }

  #trackLine(to: number): void {
    if (to > this.#trackedTo) trackText(this.#line, this.#text.slice(this.#trackedTo, to))
    this.#trackedTo = to
  }

  #reportText(to: number): void {
    if (to > this.#reported) this.#tokens.push({ type: "text", text: this.#text.slice(this.#reported, to) })
    this.#reported = Math.max(this.#reported, to)
  }

  #discardSettled(): void {
    const to = this.#settled
    this.#trackLine(to)
    this.#isEscapedStart = this.#isEscaped(to)
    this.#indent = countIndent(this.#indent, this.#text.slice(0, to))
    this.#inlineCode.shift(to)
    this.#text = this.#text.slice(to)
    this.#reported -= to
    this.#trackedTo = 0
    this.#settled = 0
  }
}

const BACKSLASH = 92

/** Maximum length of buffered plain text, in UTF-16 code units. Beyond it, the scanner determines what is code. */
const MAX_PLAIN_CHARS = 256 * MAX_PENDING_CHARS

function indexOfOr(text: string, needle: string, from: number, otherwise: number): number {
  const found = text.indexOf(needle, from)
  return found < 0 ? otherwise : found
}
