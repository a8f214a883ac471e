/**
 * clean-writer.ts: the clean text as it goes out: what is kept, what is written in its place, and what was dropped between.
 *
 * clean → OUTLET → event
 * Follows the line that readers of clean text see, and keeps apart what dropping would glue together, so that clean
 * text is not changed by cleaning (SPEC CL9) and opens no fence that raw text did not (SPEC CL10).
 * Pure.
 */

import { createLine, enterFence, followFence, followText, type LineState } from "../text/fence.ts"
import { isGlue } from "./characters.ts"

/** Unseen, and no part of any syntax. */
export const JOINER = "\u2060"

export interface OutletState {
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

export class Outlet {
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
  #followed = 0

  constructor(saved: OutletState | undefined) {
    this.#line = saved === undefined ? createLine() : { ...saved.line }
    this.#last = saved?.last ?? ""
    this.#dropped = saved?.dropped ?? false
    this.#dirtyHead = saved?.dirtyHead ?? false
    this.#bareLine = saved?.bareLine ?? false
  }

  save(): OutletState {
    const [last, dropped] = [this.#last, this.#dropped]
    return { line: { ...this.#line }, last, dropped, dirtyHead: this.#dirtyHead, bareLine: this.#bareLine }
  }

  /** The text of which pieces are kept or dropped from now on. */
  read(source: string): void {
    this.#source = source
    this.#from = this.#to = this.#followed = 0
  }

  /** What went out since it was last asked. */
  take(): string {
    this.#flush()
    const out = this.#out
    this.#out = ""
    return out
  }

  isInFence(): boolean {
    return this.#line.fence !== null
  }

  /** Does the text so far end in a line's head? */
  isHead(): boolean {
    this.#follow()
    return this.#line.place === "head"
  }

  /** Is it a head only because of what was dropped? */
  isDirtyHead(): boolean {
    return this.isHead() && this.#dirtyHead
  }

  /** Lets `[from, to)` of the source out as it is. */
  keep(from: number, to: number): number {
    if (this.#dropped && isGlue(this.#last, this.#source.charAt(from))) this.#write(JOINER)
    if (this.#from === this.#to) this.#from = this.#followed = from
    this.#to = to
    this.#settle(this.#source.charAt(to - 1))
    return to
  }

  /** Lets `piece` out instead of the source up to `to`. */
  put(piece: string, to: number): number {
    const glues = this.#dropped && isGlue(this.#last, piece.charAt(0))
    this.#write(glues ? JOINER + piece : piece)
    return to
  }

  /** The last code unit belongs to the one before it: it cannot be glued to anything. */
  spend(): void {
    this.#last = ""
  }

  /** Leaves the source out up to `to`; `goes` unless something else comes out in its place. */
  drop(to: number, goes = true): number {
    // Readers of clean text must see the fence end here too.
    if (goes && this.#bareLine) this.#write(JOINER)
    this.#flush()
    this.#dropped = true
    if (this.#line.place !== "body") this.#dirtyHead = true
    return to
  }

  /** Lets the run out that opens a fence. */
  enterFence(at: number, end: number): number {
    this.#follow()
    enterFence(this.#line, this.#source.charAt(at), end - at)
    this.keep(at, end)
    this.#followed = end
    this.spend()
    return end
  }

  /** Lets code out, from `at` to where its fence is over. */
  keepCode(at: number): number {
    const stop = followFence(this.#line, this.#source, at)
    this.keep(at, stop)
    this.#followed = stop
    this.spend()
    this.#bareLine = this.#line.fence === null && this.#line.place === "head"
    return stop
  }

  #write(text: string): void {
    this.#flush()
    this.#out += text
    this.#followPiece(text)
    this.#settle(text.slice(-1))
  }

  #settle(last: string): void {
    this.#last = last
    this.#dropped = false
    this.#bareLine = false
  }

  #flush(): void {
    if (this.#from === this.#to) return
    this.#follow()
    this.#out += this.#source.slice(this.#from, this.#to)
    this.#from = this.#to
  }

  #follow(): void {
    if (this.#from === this.#to || this.#followed === this.#to) return
    this.#followPiece(this.#source.slice(this.#followed, this.#to))
    this.#followed = this.#to
  }

  #followPiece(piece: string): void {
    followText(this.#line, piece)
    if (this.#dirtyHead && piece.includes("\n")) this.#dirtyHead = false
  }
}
