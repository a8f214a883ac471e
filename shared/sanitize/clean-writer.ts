/**
 * clean-writer.ts: the clean text as it goes out: what is kept, what is written in its place, and what was dropped between.
 *
 * clean → OUTLET → event
 * Follows the line that readers of clean text see, and keeps apart what dropping would glue together, so that clean
 * text is not changed by cleaning (SPEC CL9) and opens no fence that raw text did not (SPEC CL10).
 * Pure.
 */

import { createLineState, enterFence, skipFence, trackText, type LineState } from "../text/fence.ts"
import { isUnsafeJoin } from "../text/characters.ts"

/** Unseen, and no part of any syntax. */
export const WORD_JOINER = "\u2060"

export interface CleanWriterState {
  readonly line: LineState
  /** Last code unit that went out, or nothing if it is spent: the second of `\\`. */
  readonly last: string
  /** Something was dropped after it. */
  readonly dropped: boolean
  /** Something was dropped in the head of this line. */
  readonly dirtyHead: boolean
  /** A fence is over because this line has too few `>`, and nothing of it but those went out. */
  readonly bareLine: boolean
}

export class CleanWriter {
  #out = ""
  readonly #line: LineState
  #last: string
  #dropped: boolean
  #dirtyHead: boolean
  #bareLine: boolean
  /** What is read. `[#from, #to)` of it is kept and not yet in `#out`; the line is followed up to `#followed`. */
  #source = ""
  #from = 0
  #to = 0
  #trackedTo = 0

  constructor(saved: CleanWriterState | undefined) {
    this.#line = saved === undefined ? createLineState() : { ...saved.line }
    this.#last = saved?.last ?? ""
    this.#dropped = saved?.dropped ?? false
    this.#dirtyHead = saved?.dirtyHead ?? false
    this.#bareLine = saved?.bareLine ?? false
  }

  save(): CleanWriterState {
    const [last, dropped] = [this.#last, this.#dropped]
    return { line: { ...this.#line }, last, dropped, dirtyHead: this.#dirtyHead, bareLine: this.#bareLine }
  }

  /** The text of which pieces are kept or dropped from now on. */
  setSource(source: string): void {
    this.#source = source
    this.#from = this.#to = this.#trackedTo = 0
  }

  /** What went out since it was last asked. */
  takeOutput(): string {
    this.#flush()
    const out = this.#out
    this.#out = ""
    return out
  }

  isInFence(): boolean {
    return this.#line.fence !== null
  }

  /** Does the text so far end in a line's head? */
  isAtLineHead(): boolean {
    this.#trackLine()
    return this.#line.place === "head"
  }

  /** Is it a head only because of what was dropped? */
  isAtDirtyHead(): boolean {
    return this.isAtLineHead() && this.#dirtyHead
  }

  /** Lets `[from, to)` of the source out as it is. */
  copyRange(from: number, to: number): number {
    if (this.#dropped && isUnsafeJoin(this.#last, this.#source.charAt(from))) this.#write(WORD_JOINER)
    if (this.#from === this.#to) this.#from = this.#trackedTo = from
    this.#to = to
    this.#setLast(this.#source.charAt(to - 1))
    return to
  }

  /** Lets `piece` out instead of the source up to `to`. */
  replaceTo(text: string, to: number): number {
    const needsJoiner = this.#dropped && isUnsafeJoin(this.#last, text.charAt(0))
    this.#write(needsJoiner ? WORD_JOINER + text : text)
    return to
  }

  /** The last code unit belongs to the one before it: it cannot be glued to anything. */
  clearLast(): void {
    this.#last = ""
  }

  /** Leaves the source out up to `to`; `goes` unless something else comes out in its place. */
  dropTo(to: number, isRemoved = true): number {
    // Readers of clean text must see the fence end here too.
    if (isRemoved && this.#bareLine) this.#write(WORD_JOINER)
    this.#flush()
    this.#dropped = true
    if (this.#line.place !== "body") this.#dirtyHead = true
    return to
  }

  /** Lets the run out that opens a fence. */
  enterFence(at: number, end: number): number {
    this.#trackLine()
    enterFence(this.#line, this.#source.charAt(at), end - at)
    this.copyRange(at, end)
    this.#trackedTo = end
    this.clearLast()
    return end
  }

  /** Lets code out, from `at` to where its fence is over. */
  copyFence(at: number): number {
    const stop = skipFence(this.#line, this.#source, at)
    this.copyRange(at, stop)
    this.#trackedTo = stop
    this.clearLast()
    this.#bareLine = this.#line.fence === null && this.#line.place === "head"
    return stop
  }

  #write(text: string): void {
    this.#flush()
    this.#out += text
    this.#trackText(text)
    this.#setLast(text.slice(-1))
  }

  #setLast(last: string): void {
    this.#last = last
    this.#dropped = false
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
    if (this.#dirtyHead && text.includes("\n")) this.#dirtyHead = false
  }
}
