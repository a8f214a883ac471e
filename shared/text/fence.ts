/**
 * fence.ts: decides line by line where a code fence opens or ends, and where a paragraph ends.
 *
 * FENCE → code-tracker → clean, scanner, page
 * The rules are a simplified form of Markdown's: the decision about a line does not depend on later lines, so it can be
 * made for incomplete text (SPEC CO1, CO2). Lines end with LF. A decision needs at most a few MAX_PENDING_CHARS of
 * further text; until this text has arrived, the result is WAIT.
 */

import { MAX_PENDING_CHARS } from "../limits.ts"

/** The result depends on text that has not arrived. */
export const WAIT = -2
/** The position is plain text. */
export const TEXT = -1

export interface Fence {
  readonly char: string
  readonly size: number
  /** The number of `>` markers before the opening run. */
  readonly quotes: number
}

/**
 * The position within the current line.
 *
 * In text:  head    a fence may open here         In a fence:  head   `>` markers are counted
 *           mark    after `-`, `+`, `*`, `1.`                  run    in a run that may close the fence
 *           digits  in the number of `1.`                      trail  after that run
 *           body    anywhere else                              body   anywhere else
 */
export interface LineState {
  place: "head" | "mark" | "digits" | "body" | "run" | "trail"
  quotes: number
  /** The length of the head in code units. A head longer than MAX_PENDING_CHARS counts as body. */
  width: number
  /** The number of digits in a list number, or the length of the run that may close the fence. */
  count: number
  fence: Fence | null
}

export function createLineState(): LineState {
  return { place: "head", quotes: 0, width: 0, count: 0, fence: null }
}

export function startLine(line: LineState): void {
  line.place = "head"
  line.quotes = 0
  line.width = 0
  line.count = 0
}

/** Tracks text that is outside a fence and does not open one. */
export function trackText(line: LineState, text: string): void {
  const newline = text === "\n" ? 0 : text.lastIndexOf("\n")
  if (newline >= 0) startLine(line)
  for (let at = newline + 1; at < text.length && line.place !== "body"; at++) {
    line.width++
    line.place = line.width > MAX_PENDING_CHARS ? "body" : nextPlace(line, text.charCodeAt(at))
  }
}

function nextPlace(line: LineState, code: number): LineState["place"] {
  if (line.place === "digits") {
    if (isDigit(code)) return ++line.count > 9 ? "body" : "digits"
    return code === DOT || code === PAREN ? "mark" : "body"
  }
  if (code === SPACE || code === TAB) return "head"
  if (line.place === "mark") return "body"
  if (code === QUOTE) {
    line.quotes++
    return "head"
  }
  if (code === DASH || code === PLUS || code === STAR) return "mark"
  if (!isDigit(code)) return "body"
  line.count = 1
  return "digits"
}

/**
 * Tracks text inside a fence, from index `from`. Returns the index at which plain text continues, or `text.length`. If
 * the fence has ended, `line.fence` is null afterwards. Cost: one `indexOf` per line.
 */
export function skipFence(line: LineState, text: string, from: number): number {
  let at = from
  while (at < text.length) {
    const isWhole = line.place === "body" || (line.place === "head" && line.width === 0)
    const newline = isWhole ? findLineEnd(text, at) : -1
    if (newline < 0 && line.place === "body") return text.length
    if (newline >= 0) {
      const end = line.place === "body" ? -1 : findFenceEnd(line, text, at, newline)
      if (end >= 0) return end
      startLine(line)
      at = newline + 1
    } else if (stepInFence(line, text.charCodeAt(at))) {
      return at
    } else {
      at++
    }
  }
  return at
}

/**
 * Checks a complete line inside a fence. Returns the index at which the fence ends, or -1. Equivalent to calling
 * `stepInFence` for each character.
 */
function findFenceEnd(line: LineState, text: string, start: number, newline: number): number {
  const fence = line.fence
  if (fence === null) return start
  let at = start
  let quotes = 0
  let code = text.charCodeAt(at)
  while (code === SPACE || code === TAB || code === QUOTE) {
    if (code === QUOTE) quotes++
    code = text.charCodeAt(++at)
  }
  if (quotes < fence.quotes) {
    line.quotes = quotes
    line.width = at - start + 1
    endFence(line, line.width > MAX_PENDING_CHARS ? "body" : "head")
    return at
  }
  if (quotes !== fence.quotes || code !== fence.char.charCodeAt(0)) return -1
  let end = findRunEnd(text, at)
  if (end - at < fence.size) return -1
  while (end < newline && isBlank(text.charCodeAt(end))) end++
  if (end < newline) return -1
  endFence(line, "body")
  return newline
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB
}

/**
 * Tracks one code unit at the start of a line inside a fence. Returns true if the fence ended before this code unit.
 */
function stepInFence(line: LineState, code: number): boolean {
  const fence = line.fence
  if (fence === null) return true
  const blank = isBlank(code)
  if (line.place === "head") {
    line.width++
    if (blank) return false
    if (code === QUOTE) line.quotes++
    else if (line.quotes < fence.quotes) return endFence(line, line.width > MAX_PENDING_CHARS ? "body" : "head")
    else if (code === fence.char.charCodeAt(0) && line.quotes === fence.quotes) startRun(line)
    else if (code === NEWLINE) startLine(line)
    else line.place = "body"
    return false
  }
  if (line.place === "run" && code === fence.char.charCodeAt(0)) {
    line.count++
    return false
  }
  const canClose = line.count >= fence.size
  if (canClose && code === NEWLINE) return endFence(line, "body")
  if (canClose && blank) line.place = "trail"
  else if (code === NEWLINE) startLine(line)
  else line.place = "body"
  return false
}

function startRun(line: LineState): void {
  line.place = "run"
  line.count = 1
}

function endFence(line: LineState, place: LineState["place"]): true {
  line.fence = null
  line.place = place
  line.width = Math.max(0, line.width - 1)
  return true
}

/** Returns whether the current line would close the fence if the text ended here. */
export function isFenceClosed(line: LineState): boolean {
  if (line.fence === null) return true
  return (line.place === "run" || line.place === "trail") && line.count >= line.fence.size
}

/** Enters a fence whose opening run has `size` characters. The run counts as already tracked. */
export function enterFence(line: LineState, char: string, size: number): void {
  line.fence = { char, size, quotes: line.quotes }
  line.place = "body"
}

/**
 * Returns the index of the next line ending, or -1. Most line endings are near, and a loop finds these faster than
 * `indexOf`.
 */
function findLineEnd(text: string, from: number): number {
  const near = Math.min(from + 24, text.length)
  for (let at = from; at < near; at++) if (text.charCodeAt(at) === NEWLINE) return at
  return text.indexOf("\n", near)
}

/** Returns the index after the run of equal code units at `at`. */
export function findRunEnd(text: string, at: number): number {
  const code = text.charCodeAt(at)
  let end = at + 1
  while (text.charCodeAt(end) === code) end++
  return end
}

/**
 * Decides whether the run from `at` to `end`, in the head of its line, opens a fence. Returns the end of the run, TEXT
 * or WAIT. A run of tildes is decided at the end of the run, a run of backticks at the end of the line, both within
 * MAX_PENDING_CHARS.
 */
export function matchFence(text: string, at: number, final: boolean, end = findRunEnd(text, at)): number {
  const size = end - at
  if (size > MAX_PENDING_CHARS) return TEXT
  if (end === text.length && !final) return WAIT
  if (size < 3) return TEXT
  if (text[at] === "~") return end
  for (let next = end; next - at <= MAX_PENDING_CHARS; next++) {
    const code = text.charCodeAt(next)
    if (code === NEWLINE) return end
    if (code === TICK) return TEXT
    if (next === text.length) return final ? end : WAIT
  }
  return TEXT
}

/**
 * Returns whether the line at `start` opens a fence, or WAIT. The run must begin within MAX_PENDING_CHARS of `start`,
 * and is decided as in `matchFence`.
 */
export function isFenceLine(text: string, start: number, final: boolean): boolean | typeof WAIT {
  const line = createLineState()
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (line.place === "head" && (code === TICK || code === TILDE)) {
      const end = matchFence(text, at, final)
      return end === WAIT ? WAIT : end !== TEXT
    }
    line.place = nextPlace(line, code)
    if (line.place === "body" || at - start >= MAX_PENDING_CHARS) return false
  }
  return final ? false : WAIT
}

/**
 * Returns whether the line at `start` ends the paragraph before it, or WAIT. A blank line, quote, list item, heading,
 * thematic break, or a run that could open a fence ends it. Such a run does so even if it opens no fence, because
 * whether it opens one may depend on a tag that is removed from its line. Decided within MAX_PENDING_CHARS.
 */
export function isParagraphEnd(text: string, start: number, final: boolean): boolean | typeof WAIT {
  INDENT.lastIndex = start
  INDENT.test(text)
  const at = INDENT.lastIndex
  if (at - start > MAX_PENDING_CHARS) return false
  const code = text.charCodeAt(at)
  PARAGRAPH_BREAK.lastIndex = at
  if (PARAGRAPH_BREAK.test(text)) return true
  if (code === DASH || code === STAR || code === UNDERSCORE) return isThematicBreak(text, start, at, final)
  if (final) return false
  PARAGRAPH_BREAK_PREFIX.lastIndex = at
  return PARAGRAPH_BREAK_PREFIX.test(text) ? WAIT : false
}

const INDENT = /[ \t]*/y
/** The sanitiser inserts a word joiner before a run that must not open a fence, or escapes the run. */
const PARAGRAPH_BREAK = /\n|>|[-+*][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t\n]|\u2060?(?:`{3}|~{3})|(?:\\`){3}/y
const PARAGRAPH_BREAK_PREFIX = /(?:\+|\d{1,9}[.)]?|#{1,6}|\u2060?(?:`{0,2}|~{0,2})|(?:\\`){0,2}\\?)?$/y

function isThematicBreak(text: string, start: number, first: number, final: boolean): boolean | typeof WAIT {
  const char = text.charCodeAt(first)
  let marks = 0
  let at = first
  for (; at - start <= MAX_PENDING_CHARS; at++) {
    const code = text.charCodeAt(at)
    if (code === char) marks++
    else if (code !== SPACE && code !== TAB) break
  }
  if (at - start > MAX_PENDING_CHARS) return false
  if (at === text.length) return final ? marks >= 3 : WAIT
  return marks >= 3 && text.charCodeAt(at) === NEWLINE
}

const TAB = 9
const NEWLINE = 10
const SPACE = 32
const PAREN = 41
const STAR = 42
const PLUS = 43
const DASH = 45
const DOT = 46
const QUOTE = 62
const UNDERSCORE = 95
const TICK = 96
const TILDE = 126

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}
