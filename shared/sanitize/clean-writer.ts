/**
 * clean-writer.ts: writes sanitised text by copying, replacing or removing ranges of the source.
 *
 * clean → CLEAN WRITER → event
 * The writer tracks the current output line, and inserts a word joiner where removing text would create new syntax. As
 * a result, sanitising the output again changes nothing (SPEC CL9), and the output opens no fence that the source did
 * not open (SPEC CL10).
 */

import { createLineState, enterFence, skipFence, trackText, type LineState } from "../text/fence.ts"
import { isUnsafeJoin, isWordUnit } from "../text/characters.ts"

/** An invisible character that is not part of any syntax. */
export const WORD_JOINER = "\u2060"

export interface CleanWriterState {
  readonly line: LineState
  /**
   * The last code unit of the output. Empty if that code unit cannot combine with what follows, such as the second `\`
   * of `\\`.
   */
  readonly last: string
  /** Whether text was removed after `last`. */
  readonly dropped: boolean
  /** Whether text was removed in the head of the current output line. */
  readonly dirtyHead: boolean
  /** Whether a tag that separated words was removed after `last`. Undefined in states written by version 0.1.0. */
  readonly broken?: boolean
  /**
   * The indentation of the current output line, outside fences: the columns of whitespace so far or, once other text
   * follows, NOT_INDENTED or INDENTED. Undefined in states written by version 0.1.0.
   */
  readonly indent?: number
  /** Whether a fence ended because the current line has too few `>`, with nothing else written on this line yet. */
  readonly bareLine: boolean
}

export class CleanWriter {
  #out = ""
  readonly #line: LineState
  #last: string
  #dropped: boolean
  #broken: boolean
  #indent: number
  #dirtyHead: boolean
  #bareLine: boolean
  /** The source. Its range `[#from, #to)` is yet to be copied to `#out`. The line is tracked up to `#trackedTo`. */
  #source = ""
  #from = 0
  #to = 0
  #trackedTo = 0

  constructor(saved: CleanWriterState | undefined) {
    this.#line = saved === undefined ? createLineState() : { ...saved.line }
    this.#last = saved?.last ?? ""
    this.#dropped = saved?.dropped ?? false
    this.#broken = saved?.broken ?? false
    this.#indent = saved?.indent ?? (saved === undefined ? 0 : NOT_INDENTED)
    this.#dirtyHead = saved?.dirtyHead ?? false
    this.#bareLine = saved?.bareLine ?? false
  }

  save(): CleanWriterState {
    const [last, dropped] = [this.#last, this.#dropped]
    const [broken, indent, dirtyHead, bareLine] = [this.#broken, this.#indent, this.#dirtyHead, this.#bareLine]
    return { line: { ...this.#line }, last, dropped, broken, indent, dirtyHead, bareLine }
  }

  /** Sets the source that subsequent calls refer to. */
  setSource(source: string): void {
    this.#source = source
    this.#from = this.#to = this.#trackedTo = 0
  }

  /** Returns the output since the last call. */
  takeOutput(): string {
    this.#flush()
    const out = this.#out
    this.#out = ""
    return out
  }

  isInFence(): boolean {
    return this.#line.fence !== null
  }

  /** Returns whether the output ends in the head of a line. */
  isAtLineHead(): boolean {
    this.#trackLine()
    return this.#line.place === "head"
  }

  /** Returns whether the output ends in a line that is indented like code. */
  isInIndentedLine(): boolean {
    this.#trackLine()
    return this.#indent === INDENTED || this.#indent >= CODE_INDENT
  }

  /** Returns whether the output ends in the head of a line only because text was removed there. */
  isAtDirtyHead(): boolean {
    return this.isAtLineHead() && this.#dirtyHead
  }

  /** Copies the range `[from, to)` of the source. */
  copyRange(from: number, to: number): number {
    if (this.#dropped) this.#write(this.#getSeparator(this.#source.charAt(from)))
    if (this.#from === this.#to) this.#from = this.#trackedTo = from
    this.#to = to
    this.#setLast(this.#source.charAt(to - 1))
    return to
  }

  /** Writes `text` in place of the source up to `to`. */
  replaceTo(text: string, to: number): number {
    this.#write(this.#dropped ? this.#getSeparator(text.charAt(0)) + text : text)
    return to
  }

  /**
   * Returns what to insert where text was removed: a word joiner if the text around it would form syntax, a space
   * between words.
   */
  #getSeparator(next: string): string {
    if (isUnsafeJoin(this.#last, next)) return WORD_JOINER
    return this.#broken && isWordUnit(this.#last) && isWordUnit(next) ? " " : ""
  }

  /** Marks the last code unit as one that cannot combine with what follows. */
  clearLast(): void {
    this.#last = ""
  }

  /**
   * Removes the source up to `to`. `isRemoved` is false if a replacement will be written. `isBreak` is true if the
   * removed text separated words.
   */
  dropTo(to: number, isRemoved = true, isBreak = false): number {
    // The fence must also end at this line in the output.
    if (isRemoved && this.#bareLine) this.#write(WORD_JOINER)
    this.#flush()
    this.#dropped = true
    if (isBreak) this.#broken = true
    if (this.#line.place !== "body") this.#dirtyHead = true
    return to
  }

  /** Copies the run of characters that opens a fence. */
  enterFence(at: number, end: number): number {
    this.#trackLine()
    enterFence(this.#line, this.#source.charAt(at), end - at)
    this.#indent = NOT_INDENTED
    this.copyRange(at, end)
    this.#trackedTo = end
    this.clearLast()
    return end
  }

  /** Copies code, from `at` to the end of its fence. */
  copyFence(at: number): number {
    const stop = skipFence(this.#line, this.#source, at)
    this.copyRange(at, stop)
    this.#trackedTo = stop
    this.clearLast()
    this.#bareLine = this.#line.fence === null && this.#line.place === "head"
    return stop
  }

  #write(text: string): void {
    if (text === "") return
    this.#flush()
    this.#out += text
    this.#trackText(text)
    this.#setLast(text.slice(-1))
  }

  #setLast(last: string): void {
    this.#last = last
    this.#dropped = false
    this.#broken = false
    this.#bareLine = false
  }

  #flush(): void {
    if (this.#from === this.#to) return
    this.#trackLine()
    this.#out += this.#source.slice(this.#from, this.#to)
    this.#from = this.#to
  }

  #trackLine(): void {
    if (this.#from === this.#to || this.#trackedTo === this.#to) return
    this.#trackText(this.#source.slice(this.#trackedTo, this.#to))
    this.#trackedTo = this.#to
  }

  #trackText(text: string): void {
    trackText(this.#line, text)
    this.#indent = trackIndent(this.#indent, text)
    if (this.#dirtyHead && text.includes("\n")) this.#dirtyHead = false
  }
}

const NOT_INDENTED = -1
const INDENTED = -2
/**
 * The number of columns of whitespace that make a line code in Markdown. A tab also counts as this number of columns.
 */
const CODE_INDENT = 4

function trackIndent(before: number, text: string): number {
  const newline = text.lastIndexOf("\n")
  let indent = newline < 0 ? before : 0
  for (let at = newline + 1; at < text.length && indent >= 0; at++) {
    const char = text[at]
    if (char === " " || char === "\t") indent += char === " " ? 1 : CODE_INDENT
    else indent = indent >= CODE_INDENT ? INDENTED : NOT_INDENTED
  }
  return indent
}
