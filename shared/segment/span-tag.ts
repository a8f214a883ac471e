/**
 * span-tag.ts: finds `<span id='tool_n'>` and `</span>` in clean text, also when they are cut.
 *
 * clean → event → fold → MARK → segment
 * Found as the regular expression of seed 000 §5.4 finds them, outside Markdown code and not after a backslash.
 * Pure. What has been reported after some text is a function of that text alone, however it was cut (SPEC MK4).
 */

import { MAX_HELD } from "../limits.ts"
import { WAIT } from "../text/fence.ts"
import { type Seeker, type Found, Scanner, type TextPiece } from "../text/scanner.ts"

export type Mark =
  | TextPiece
  | { readonly type: "open"; readonly tag: string; readonly raw: string }
  | { readonly type: "close"; readonly raw: string }

/** A tag of a mark. */
export type Tagged = Exclude<Mark, TextPiece>

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
  const scanner = new Scanner(new MarkSeeker())
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

class MarkSeeker implements Seeker<Tagged> {
  /** A mark is open: only its end is looked for, all else is words. */
  #inMark = false

  begin(): void {}

  next(text: string, from: number): number {
    return candidateIn(text, from, this.#inMark)
  }

  at(text: string, at: number, final: boolean): Found<Tagged> | typeof WAIT | null {
    return markAt(text, at, final, this.#inMark)
  }

  take({ pieces: [mark] }: Found<Tagged>): void {
    this.#inMark = mark?.type === "open"
  }
}

const SLASH = 47
const LESS = 60
const LETTER_S = 115

/**
 * The next `<` that what is looked for may begin with: an opening tag, or in a mark its end. At the end of the text it
 * may yet be either.
 */
export function candidateIn(text: string, from: number, inMark: boolean): number {
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
export function markAt(text: string, at: number, final: boolean, inMark: boolean): Found<Tagged> | typeof WAIT | null {
  const start = text.slice(at, at + MAX_HELD)
  const found = (inMark ? CLOSE : OPEN).exec(start)
  if (found !== null) {
    const [raw] = found
    const piece: Tagged = inMark ? { type: "close", raw } : { type: "open", tag: `${found[1]}_${found[2]}`, raw }
    return { pieces: [piece], end: at + raw.length }
  }
  if (final || start.length === MAX_HELD) return null
  return (inMark ? CLOSE_PART : OPEN_PART).test(start) ? WAIT : null
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
