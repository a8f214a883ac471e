/**
 * scanner.ts: finds what means something in clean text, outside Markdown code and not after a backslash, also when cut.
 *
 * clean → event → fold → SCAN → segment
 * What is looked for is a seeker's: marks alone, or marks and directives. What is code is decided here, once for all.
 * Pure. What has been told after some text is a function of that text alone, however it was cut (SPEC MK4, DR9).
 */

import { CodeSpans } from "./code-tracker.ts"
import { MAX_HELD } from "../limits.ts"
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
} from "./fence.ts"
import { endTildes } from "../sanitize/characters.ts"

export interface TextPiece {
  readonly type: "text"
  readonly text: string
}

/** What stands at a candidate: its pieces, and where the text goes on; there itself, if they only tell of it. */
export interface Found<P> {
  readonly pieces: readonly P[]
  readonly end: number
}

/** Knows what is looked for. Asked from left to right in one text, which grows and is cut at its front between two `begin`. */
export interface Seeker<P> {
  /** Another text is read from now on; `head` as `headAfter` gives it for what stands before it. */
  begin(head: number): void
  /** The next place where something may stand, or the end of the text. */
  next(text: string, from: number): number
  /** What stands at a candidate; WAIT if more text may make something of it, null if nothing can. */
  at(text: string, at: number, final: boolean): Found<P> | typeof WAIT | null
  /** It was found, and counts. */
  take(found: Found<P>): void
}

/** Pattern of any beginning of `word`, and of the whole of it with `rest`. */
export function prefixes(word: string, rest: string): string {
  const units = [...word].map((unit) => (/\w/.test(unit) ? unit : `\\${unit}`))
  return units.reduceRight((after, unit) => `${unit}(?:${after})?`, rest)
}

/** Spaces that stand at a line's head, up to three, or -1 outside of it: where a line's start is after `text`. */
export function headAfter(head: number, text: string): number {
  const newline = text.lastIndexOf("\n")
  const from = newline < 0 ? head : 0
  const size = text.length - newline - 1
  if (from < 0 || from + size > 3) return size === 0 ? from : -1
  for (let at = newline + 1; at < text.length; at++) if (text[at] !== " ") return -1
  return from + size
}

export class Scanner<P> {
  readonly #seeker: Seeker<P>
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
  /** The line's head before `#text`, and after all text there was. */
  #head = 0
  #endHead = 0
  #pieces: (P | TextPiece)[] = []
  /** Text after `#text` in which nothing can stand, all told. */
  #plain: string[] = []
  #plainSize = 0
  /** Next backtick, candidate, `~~~`, ```` ``` ```` and blank line, or the end of the text; -1 if not known. */
  #tick = -1
  #less = -1
  #tilde = -1
  #ticks3 = -1
  #blank = -1
  /** A run that is no fence, or not yet. */
  #refused = -1

  constructor(seeker: Seeker<P>) {
    this.#seeker = seeker
  }

  scan(more: string, final: boolean): (P | TextPiece)[] {
    this.#pieces = []
    this.#less = -1
    const head = this.#endHead
    this.#endHead = headAfter(head, more)
    if (this.#told === this.#text.length) {
      this.#seeker.begin(head)
      const candidate = this.#seeker.next(more, 0)
      if (candidate === more.length && !this.#tellPlain(more)) return this.#pieces
      // Nothing before it in all that was told may become anything.
      this.#less = this.#text.length + this.#plainSize + candidate
    }
    this.#text = this.#gather(more)
    this.#seeker.begin(this.#head)
    this.#settle(final)
    this.#tell(this.#settled === this.#text.length ? this.#settled : this.#firstHeld(final))
    this.#forget()
    return this.#pieces
  }

  /** Nothing can stand here, so what is code need not be known until one may; true if it is too much to keep. */
  #tellPlain(more: string): boolean {
    if (this.#plainSize + more.length >= MAX_PLAIN) return true
    if (more === "") return false
    this.#pieces.push({ type: "text", text: more })
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
    if (this.#less < at) this.#less = this.#seeker.next(text, at)
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
    const found = this.#seeker.at(this.#text, at, final)
    if (found === null) return at + 1
    if (found === WAIT) return WAIT
    this.#seeker.take(found)
    this.#less = -1
    this.#tell(at)
    for (const piece of found.pieces) this.#pieces.push(piece)
    if (found.end === at) return at + 1
    this.#told = found.end
    return found.end
  }

  /** In text whose code is open: where the first thing stands that would count if it is no code. */
  #firstHeld(final: boolean): number {
    const text = this.#text
    let at = Math.max(this.#told, this.#settled)
    for (;;) {
      at = this.#seeker.next(text, at)
      if (at === text.length || (!this.#isEscaped(at) && this.#seeker.at(text, at, final) !== null)) return at
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
    if (to > this.#told) this.#pieces.push({ type: "text", text: this.#text.slice(this.#told, to) })
    this.#told = Math.max(this.#told, to)
  }

  #forget(): void {
    const to = this.#settled
    this.#follow(to)
    this.#escaped = this.#isEscaped(to)
    this.#head = headAfter(this.#head, this.#text.slice(0, to))
    this.#spans.shift(to)
    this.#text = this.#text.slice(to)
    this.#told -= to
    this.#lineTo = 0
    this.#settled = 0
  }
}

const BACKSLASH = 92

/** Told text that is kept for want of a candidate, in UTF-16 code units, before its code is settled all the same. */
const MAX_PLAIN = 256 * MAX_HELD

function indexOr(text: string, needle: string, from: number, otherwise: number): number {
  const found = text.indexOf(needle, from)
  return found < 0 ? otherwise : found
}
