/**
 * text-part.ts: computes how much of some long text is shown at once.
 *
 * Long text is shown in parts. The reader requests each part after the first. A part is added in slices, so that the
 * page responds to input between slices. Parts and slices are measured in cost: an estimate of the work of rendering
 * text. A plain letter costs 1. Where a part ends depends only on the text. SPEC PF1–PF4.
 */

import { isHighSurrogate } from "../../shared/text/cut-text.ts"

/** The cost of one part: about 200 KB of prose, 120 KB of code, or a table of 2,000 rows. */
export const PART_COST = 300_000

/** The cost of one slice: at most about 30 ms on a desktop computer. */
export const SLICE_COST = 30_000

/** A line break may end a paragraph, a row or an item. A list marker begins an item, and often a list. */
const LINE_COST = 32
/** A character that may begin or end an element, such as a cell or emphasis. */
const MARKUP_COST = 16
/** A character of a fence, because a code block also has a toolbar. */
const FENCE_COST = 32
/** A space of a deep indentation, because each level of a list parses its content again. */
const INDENT_COST = 8
const MAX_CHEAP_INDENT = 12
const TAB_COLUMNS = 4
/** A character that takes long to shape, such as a combining mark, or one that few fonts have. */
const RARE_COST = 4
/** A letter of a script with joined or reordered letters, or of any other non-Latin script. */
const FOREIGN_COST = 2
/** A change of script: the browser shapes the two scripts separately. */
const SCRIPT_CHANGE_COST = 32

const ASCII_COSTS = new Uint8Array(128).fill(1)
for (const char of "*_~[]()<>`|&$\\#@") ASCII_COSTS[char.charCodeAt(0)] = MARKUP_COST
for (const char of "`~") ASCII_COSTS[char.charCodeAt(0)] = FENCE_COST
ASCII_COSTS[10] = LINE_COST
// An image costs more, because it is a component of its own, with a button.
ASCII_COSTS[33] = 4 * MARKUP_COST

/** A part or slice ends at a line break if there is one in the last tenth of its cost. */
const SEARCHED_SHARE = 0.9

export interface MeasuredText {
  /** The index up to which the text fits, in UTF-16 code units. */
  readonly end: number
  /** The cost of the text up to `end`. */
  readonly cost: number
}

/**
 * Returns the beginning of some text that costs at most `maxCost`. The result ends after a blank line if there is one
 * nearby, otherwise after a line if possible, and never within a surrogate pair. Reads no character beyond that end,
 * and each at most twice. Pure.
 */
export function measureText(text: string, maxCost: number): MeasuredText {
  return new TextMeter(maxCost).measure(text)
}

/** Measures growing text. When a longer version of the same text is measured, only its end is read. */
export class TextMeter {
  readonly #maxCost: number
  #text = ""
  #cost = 0
  #script = 0
  /**
   * The number of columns of the line so far if it contains only spaces and markers, otherwise -1. Several lists may
   * begin on one line.
   */
  #indent = 0
  #marker: MarkerState = NO_MARKER
  #lineEnd: MeasuredText | null = null
  #blankLineEnd: MeasuredText | null = null
  /** Set once the text costs more than the limit. */
  #limit: MeasuredText | null = null

  constructor(maxCost: number) {
    this.#maxCost = maxCost
  }

  /** Returns whether `text` begins with the text that was measured last. */
  canMeasure(text: string): boolean {
    return text.startsWith(this.#text)
  }

  /** Measures `text`, which must begin with the text that was measured last. */
  measure(text: string): MeasuredText {
    const from = this.#text.length
    this.#text = text
    for (let at = from; at < text.length && this.#limit === null; at++) {
      const unit = text.charCodeAt(at)
      const cost = this.#cost + this.#costOf(unit)
      if (cost > this.#maxCost) {
        const end = at > 0 && isHighSurrogate(text.charCodeAt(at - 1)) ? at - 1 : at
        this.#limit = this.#blankLineEnd ?? this.#lineEnd ?? { end, cost: this.#cost }
        break
      }
      this.#cost = cost
      this.#trackIndent(unit)
      if (unit !== 10 || cost < this.#maxCost * SEARCHED_SHARE) continue
      this.#lineEnd = { end: at + 1, cost }
      if (text.charCodeAt(at - 1) === 10) this.#blankLineEnd = this.#lineEnd
    }
    return this.#limit ?? { end: text.length, cost: this.#cost }
  }

  #costOf(unit: number): number {
    if ((unit === 32 || unit === 9) && this.#indent >= MAX_CHEAP_INDENT) return getColumns(unit) * INDENT_COST
    if (this.#indent >= 0 && this.#marker === NO_MARKER && isListMarker(unit)) return LINE_COST
    if (unit < 128) return ASCII_COSTS[unit] ?? 1
    const before = this.#script
    this.#script = getScript(unit)
    const ownCost = isRare(unit) ? RARE_COST : unit < 0x250 ? 1 : FOREIGN_COST
    return ownCost + (this.#script === before ? 0 : SCRIPT_CHANGE_COST)
  }

  #trackIndent(unit: number): void {
    if (unit === 10) this.#indent = 0
    else if (this.#indent >= 0) {
      this.#marker = readMarkerUnit(this.#marker, unit)
      this.#indent = this.#marker === NOT_A_MARKER ? -1 : this.#indent + getColumns(unit)
    }
    if (this.#indent <= 0) this.#marker = NO_MARKER
  }
}

function getColumns(unit: number): number {
  return unit === 9 ? TAB_COLUMNS : 1
}

/** Returns whether a character is `-`, `+`, `*` or a digit. */
function isListMarker(unit: number): boolean {
  return unit === 45 || unit === 43 || unit === 42 || isDigit(unit)
}

function isDigit(unit: number): boolean {
  return unit >= 48 && unit < 58
}

/**
 * What a line contains before a character. The states 0 to 3 are: nothing or a marker with its space, a number, a
 * marker without its space, other text.
 */
type MarkerState = 0 | 1 | 2 | 3
const NO_MARKER = 0
const NUMBER = 1
const OPEN_MARKER = 2
const NOT_A_MARKER = 3

/** Returns the state after one more character of the line. */
function readMarkerUnit(state: MarkerState, unit: number): MarkerState {
  if (unit === 32 || unit === 9) return state === NUMBER ? NOT_A_MARKER : NO_MARKER
  if (isDigit(unit)) return state === OPEN_MARKER ? NOT_A_MARKER : NUMBER
  // `12.` or `12)`
  if (state === NUMBER) return unit === 46 || unit === 41 ? OPEN_MARKER : NOT_A_MARKER
  if (state === OPEN_MARKER) return NOT_A_MARKER
  // `>` needs no space.
  return unit === 62 ? NO_MARKER : isListMarker(unit) ? OPEN_MARKER : NOT_A_MARKER
}

/**
 * Approximates a script by its block of 128 code units. All CJK units count as one script, and so do all surrogates.
 */
function getScript(unit: number): number {
  if (unit >= 0x2e80 && unit < 0xd800) return 1
  return unit >= 0xd800 && unit < 0xe000 ? 2 : unit < 0x250 ? 3 : unit >> 7
}

function isRare(unit: number): boolean {
  return (unit >= 0x300 && unit < 0x370) || (unit >= 0xe000 && unit < 0xf900) || unit >= 0xfe00
}
