/**
 * mark.ts: finds `<span id='tool_n'>` and `</span>` in clean text, also when they are cut.
 *
 * clean → event → fold → MARK → segment
 * Found as the regular expression of seed 000 §5.4 finds them, outside Markdown code and not after a backslash.
 * Pure. What has been reported after some text is a function of that text alone, however it was cut (SPEC MK4).
 */

import { CodeSpans } from "./code.ts"
import { MAX_HELD } from "./limits.ts"
import {
  createLine,
  enterFence,
  fenceAt,
  followFence,
  followText,
  type LineState,
  runEnd,
  startLine,
  TEXT,
  WAIT,
} from "./line.ts"
import { endTildes } from "./plain.ts"

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

/** A mark, as it must look. */
const OPEN = /^<span\s+id=['"]([a-z][a-z0-9_]*)_(\d+)['"]\s*>/i
const CLOSE = /^<\/span>/i
/** A beginning of either that reaches the end of the text. */
const OPEN_PART =
  /^<(?:s(?:p(?:a(?:n)?)?)?|span\s+(?:i(?:d(?:=(?:['"](?:[a-z][a-z0-9_]*(?:(?<=_\d+)['"]\s*)?)?)?)?)?)?)?$/i
const CLOSE_PART = /^<(?:\/(?:s(?:p(?:a(?:n)?)?)?)?)?$/i

class Scanner {
  /** Text whose code is not settled yet. The first `#told` of it is reported. */
  #text = ""
  #told = 0
  /** Code is settled up to here. */
  #settled = 0
  readonly #line: LineState = createLine()
  /** The line is followed up to here. */
  #lineTo = 0
  readonly #spans = new CodeSpans()
  /** The text stands behind an odd number of backslashes. */
  #escaped = false
  /** The text goes on with a run of backticks that is settled, being over every bound. */
  #inRun = false
  /** A mark is open: only its end is looked for, all else is words. */
  #inMark = false
  #marks: Mark[] = []
  /** Text after `#text` in which no mark can stand, all told. */
  #plain: string[] = []
  #plainSize = 0
  /** Next backtick, candidate for a mark, `~~~`, ```` ``` ```` and blank line, or the end of the text; -1 if not known. */
  #tick = -1
  #less = -1
  #tilde = -1
  #ticks3 = -1
  #blank = -1
  /** A run that is no fence, or not yet. */
  #refused = -1

  scan(more: string, final: boolean): Mark[] {
    this.#marks = []
    this.#less = -1
    if (this.#told === this.#text.length) {
      const candidate = candidateIn(more, 0, this.#inMark)
      if (candidate === more.length && !this.#tellPlain(more)) return this.#marks
      // Nothing before it in all that was told may become a mark.
      this.#less = this.#text.length + this.#plainSize + candidate
    }
    this.#text = this.#gather(more)
    this.#settle(final)
    this.#tell(this.#settled === this.#text.length ? this.#settled : this.#firstHeld(final))
    this.#forget()
    return this.#marks
  }

  /** No mark can stand here, so what is code need not be known until one may; true if it is too much to keep. */
  #tellPlain(more: string): boolean {
    if (this.#plainSize + more.length >= MAX_PLAIN) return true
    if (more === "") return false
    this.#marks.push({ type: "text", text: more })
    this.#plain.push(more)
    this.#plainSize += more.length
    return false
  }

  #gather(more: string): string {
    if (this.#plain.length === 0) return this.#text === "" ? more : this.#text + more
    this.#told += this.#plainSize
    const text = this.#text + this.#plain.join("") + more
    this.#plain = []
    this.#plainSize = 0
    return text
  }

  #settle(final: boolean): void {
    this.#tick = this.#tilde = this.#ticks3 = this.#blank = this.#refused = -1
    let at = 0
    while (at < this.#text.length) {
      const next = this.#line.fence === null ? this.#step(at, final) : this.#fence(at)
      if (next === WAIT) break
      at = next
      this.#settled = at
    }
  }

  #fence(at: number): number {
    this.#lineTo = followFence(this.#line, this.#text, at)
    return this.#lineTo
  }

  /** Settles plain text up to the next thing of interest, and that thing; WAIT if that is open. */
  #step(at: number, final: boolean): number {
    const text = this.#text
    if (this.#inRun) {
      const end = text[at] === "`" ? runEnd(text, at) : at
      this.#inRun = end === text.length
      if (end > at) return end
    }
    const jumped = this.#jump(at, final)
    if (jumped > at) return jumped
    if (this.#tick < at) this.#tick = indexOr(text, "`", at, text.length)
    const next = Math.min(this.#tick, this.#less, this.#tilde)
    if (next === text.length) return next
    this.#settled = next
    if (next === this.#tilde) return this.#tildes(next, final)
    if (this.#isEscaped(next)) return next + 1
    return next === this.#tick ? this.#ticks(next, final) : this.#candidate(next, final)
  }

  /**
   * Leaps over inline code that cannot matter: up to a blank line, or into a fence, before the next candidate.
   * → `at` if there is neither.
   */
  #jump(at: number, final: boolean): number {
    const text = this.#text
    if (this.#less < at) this.#less = candidateIn(text, at, this.#inMark)
    if (this.#tilde < at) this.#tilde = indexOr(text, "~~~", at, final ? text.length : endTildes(text, at))
    if (this.#ticks3 < at) this.#ticks3 = indexOr(text, "```", at, text.length)
    if (this.#blank < at) this.#blank = indexOr(text, "\n\n", at, text.length)
    const run = Math.min(this.#tilde, this.#ticks3)
    const stop = Math.min(this.#less, run)
    if (this.#blank < stop) {
      const start = text.lastIndexOf("\n\n", stop - 1) + 1
      startLine(this.#line)
      this.#lineTo = start
      return start
    }
    if (stop < run || run === text.length || run === this.#refused) return at
    const end = this.#fenceAt(run, runEnd(text, run), final)
    if (end >= 0) return end
    this.#refused = run
    return at
  }

  #tildes(at: number, final: boolean): number {
    const end = runEnd(this.#text, at)
    const fence = this.#fenceAt(at, end, final)
    return fence === TEXT ? end : fence
  }

  /** Enters the fence that the run from `at` to `end` opens; → TEXT if it opens none. */
  #fenceAt(at: number, end: number, final: boolean): number {
    this.#follow(at)
    const fence = this.#line.place === "head" ? fenceAt(this.#text, at, final, end) : TEXT
    if (fence < 0) return fence
    enterFence(this.#line, this.#text.charAt(at), end - at)
    this.#lineTo = end
    return end
  }

  #ticks(at: number, final: boolean): number {
    const text = this.#text
    const end = runEnd(text, at)
    const size = end - at
    if (end === text.length && !final) {
      if (size <= MAX_HELD) return WAIT
      this.#inRun = true
      return end
    }
    const fence = size >= 3 ? this.#fenceAt(at, end, final) : TEXT
    if (fence !== TEXT) return fence
    const closed = this.#spans.closerOf(text, at, size, final)
    return closed === TEXT ? end : closed
  }

  #candidate(at: number, final: boolean): number {
    const mark = markAt(this.#text, at, final, this.#inMark)
    if (mark === null) return at + 1
    if (mark === WAIT) return WAIT
    this.#inMark = mark.type === "open"
    this.#less = -1
    this.#tell(at)
    this.#marks.push(mark)
    this.#told = at + mark.raw.length
    return this.#told
  }

  /** In text whose code is open: where the first thing stands that would be a mark if it is no code. */
  #firstHeld(final: boolean): number {
    const text = this.#text
    let at = Math.max(this.#told, this.#settled)
    for (;;) {
      at = candidateIn(text, at, this.#inMark)
      if (at === text.length || (!this.#isEscaped(at) && markAt(text, at, final, this.#inMark) !== null)) return at
      at++
    }
  }

  #isEscaped(at: number): boolean {
    let from = at
    while (from > 0 && this.#text.charCodeAt(from - 1) === BACKSLASH) from--
    return ((at - from) % 2 === 1) !== (from === 0 && this.#escaped)
  }

  #follow(to: number): void {
    if (to > this.#lineTo) followText(this.#line, this.#text.slice(this.#lineTo, to))
    this.#lineTo = to
  }

  #tell(to: number): void {
    if (to > this.#told) this.#marks.push({ type: "text", text: this.#text.slice(this.#told, to) })
    this.#told = Math.max(this.#told, to)
  }

  #forget(): void {
    const to = this.#settled
    this.#follow(to)
    this.#escaped = this.#isEscaped(to)
    this.#spans.shift(to)
    this.#text = this.#text.slice(to)
    this.#told -= to
    this.#lineTo = 0
    this.#settled = 0
  }
}

const BACKSLASH = 92
const SLASH = 47
const LESS = 60
const LETTER_S = 115

/** Told text that is kept for want of a candidate, in UTF-16 code units, before its code is settled all the same. */
const MAX_PLAIN = 256 * MAX_HELD

/**
 * The next `<` that what is looked for may begin with: an opening tag, or in a mark its end. At the end of the text it
 * may yet be either.
 */
function candidateIn(text: string, from: number, inMark: boolean): number {
  let at = text.indexOf("<", from)
  while (at >= 0 && at + 1 < text.length) {
    const second = text.charCodeAt(at + 1)
    if (inMark ? second === SLASH : (second | 32) === LETTER_S) return at
    // A row of `<` is stepped over here: a search for each would cost more than all the rest.
    at = second === LESS ? at + 1 : text.indexOf("<", at + 1)
  }
  return at < 0 ? text.length : at
}

/** The tag that stands at a candidate: an opening one, or in a mark its end. WAIT if it may become one, null if there is none. */
function markAt(
  text: string,
  at: number,
  final: boolean,
  inMark: boolean,
): Exclude<Mark, { type: "text" }> | typeof WAIT | null {
  const start = text.slice(at, at + MAX_HELD)
  const found = (inMark ? CLOSE : OPEN).exec(start)
  if (found !== null) {
    return inMark ? { type: "close", raw: found[0] } : { type: "open", tag: `${found[1]}_${found[2]}`, raw: found[0] }
  }
  if (final || start.length === MAX_HELD) return null
  return (inMark ? CLOSE_PART : OPEN_PART).test(start) ? WAIT : null
}

function indexOr(text: string, needle: string, from: number, otherwise: number): number {
  const found = text.indexOf(needle, from)
  return found < 0 ? otherwise : found
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
  if (text === null || text === undefined || !ANY_OPEN.test(text)) return text ?? ""
  // Each `<` starts a piece, so that a tag that is taken out is the tail of `pieces`.
  const pieces: string[] = []
  const starts: number[] = []
  const spans: boolean[] = []
  let at = 0
  while (at < text.length) {
    ANGLE.lastIndex = at + 1
    const next = ANGLE.exec(text)?.index ?? text.length
    const end = text[next] === ">" ? next + 1 : next
    if (text[at] === "<") starts.push(pieces.length)
    pieces.push(text.slice(at, end))
    if (text[end - 1] === ">") takeTag(pieces, starts, spans)
    at = end
  }
  return pieces.join("")
}

const ANY_OPEN = /<span\s+id=['"][a-z][a-z0-9_]*_\d+['"]\s*>/i
const ANGLE = /[<>]/g

/** The pieces end with `>`: is their tail a mark, or the end of one? `spans` tells which open spans are marks. */
function takeTag(pieces: string[], starts: number[], spans: boolean[]): void {
  const start = starts.pop()
  if (start === undefined) return
  const tag = pieces.slice(start).join("")
  const opens = ANY_OPEN.test(tag)
  const closes = CLOSE.test(tag)
  if (opens || /^<span[\s/>]/i.test(tag)) spans.push(opens)
  if (opens || (closes && spans.pop() === true)) pieces.length = start
  else starts.length = 0
}
