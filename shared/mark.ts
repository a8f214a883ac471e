/**
 * mark.ts: finds `<span id='tool_n'>` and `</span>` in clean text, also when they are cut.
 *
 * clean → event → fold → MARK → segment
 * Found as the regular expression of seed 000 §5.4 finds them, outside Markdown code and not after a backslash.
 * Pure. What has been reported after some text is a function of that text alone, however it was cut (SPEC MK3).
 */

import {
  CodeSpans,
  createLine,
  enterFence,
  fenceAt,
  followFence,
  followText,
  type LineState,
  runEnd,
  TEXT,
  WAIT,
} from "./code.ts"
import { MAX_HELD } from "./limits.ts"

export type Mark =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "open"; readonly tag: string; readonly raw: string }
  | { readonly type: "close"; readonly raw: string }

export interface MarkScanner {
  push(text: string): Mark[]
  /** The text is over: what was held is settled. */
  end(): Mark[]
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
export function createMarkScanner(): MarkScanner {
  const scanner = new Scanner()
  return {
    push: (text) => scanner.scan(text, false),
    end: () => scanner.scan("", true),
  }
}

/** What a mark would look like, as far as it is there. */
const OPEN = /<span\s+id=['"]([a-z][a-z0-9_]*)_(\d+)['"]\s*>/iy
const CLOSE = /<\/span>/iy
/** A beginning of either that reaches the end of the text. */
const PART = /<(?:\/?(?:s(?:p(?:a(?:n)?)?)?)?|span\s+(?:i(?:d(?:=(?:['"](?:[a-z][a-z0-9_]*(?:['"]\s*)?)?)?)?)?)?)$/iy

class Scanner {
  /** Text whose code is not settled yet. The first `#told` of it is reported. */
  #text = ""
  #told = 0
  #line: LineState = createLine()
  /** The line is followed up to here. */
  #lineTo = 0
  readonly #spans = new CodeSpans()
  /** The text stands behind an odd number of backslashes. */
  #escaped = false
  /** The text goes on with a run of backticks that is settled, being over every bound. */
  #inRun = false
  #marks: Mark[] = []
  #tick = -1
  #less = -1

  scan(more: string, final: boolean): Mark[] {
    this.#text = this.#text === "" ? more : this.#text + more
    this.#marks = []
    this.#tick = -1
    this.#less = -1
    const settled = this.#settle(final)
    this.#tellUndecided(settled, final)
    this.#forget(settled)
    return this.#marks
  }

  /** Goes on as far as code is decided; → where it stopped. */
  #settle(final: boolean): number {
    const text = this.#text
    let at = 0
    while (at < text.length) {
      const next = this.#line.fence === null ? this.#step(at, final) : this.#fence(at)
      if (next < 0) return -next - 1
      at = next
    }
    return at
  }

  #fence(at: number): number {
    this.#lineTo = followFence(this.#line, this.#text, at)
    return this.#lineTo
  }

  /** Settles plain text up to the next thing of interest, and that thing; `-1 - index` to wait there. */
  #step(at: number, final: boolean): number {
    const text = this.#text
    if (this.#inRun) {
      this.#inRun = text[at] === "`"
      if (this.#inRun) return this.#overRun(at)
    }
    if (this.#tick < at) this.#tick = indexOr(text, "`", at)
    if (this.#less < at) this.#less = indexOr(text, "<", at)
    const next = Math.min(this.#tick, this.#less)
    const tilde = this.#tildeIn(at, next, final)
    if (tilde !== TEXT) return tilde
    if (next === text.length) return next
    if (this.#isEscaped(next, at)) return next + 1
    return next === this.#tick ? this.#backticks(next, final) : this.#candidate(next, final)
  }

  #overRun(at: number): number {
    const end = runEnd(this.#text, at)
    this.#inRun = end === this.#text.length
    return end
  }
}

function indexOr(text: string, needle: string, from: number): number {
  const found = text.indexOf(needle, from)
  return found < 0 ? text.length : found
}
