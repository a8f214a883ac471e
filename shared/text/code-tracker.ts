/**
 * code-tracker.ts: finds Markdown code in text: fences and inline code.
 *
 * fence → CODE TRACKER → clean, scanner, page
 * The sanitiser, the scanner and the page share this code, so they agree on what is code. Indented code does not count.
 * However the text is split into chunks, the results are the same.
 */

import { MAX_PENDING_CHARS } from "../limits.ts"
import {
  createLineState,
  isParagraphEnd,
  enterFence,
  matchFence,
  skipFence,
  trackText,
  isFenceClosed,
  type LineState,
  findRunEnd,
  startLine,
  TEXT,
  WAIT,
} from "./fence.ts"

/**
 * Finds the next line that matches a predicate, in text that grows at the end and is removed from the start.
 *
 * The finder records how far it has searched, so all calls together cost one pass. Calls must go from left to right.
 */
export class LineFinder {
  /** The absolute position of the text's first code unit. */
  #base = 0
  /** There is no match between the last call's position and this one, except at `#found`. */
  #searchedTo = 0
  #found = -1
  /** The absolute position of the next line ending or, if `#isEnd` is false, the position up to which there is none. */
  #lineEnd = -1
  #isEnd = false
  readonly #isMatch: (text: string, start: number, final: boolean) => boolean | typeof WAIT

  constructor(isMatch: (text: string, start: number, final: boolean) => boolean | typeof WAIT) {
    this.#isMatch = isMatch
  }

  shift(by: number): void {
    this.#base += by
  }

  /**
   * Returns the first line ending in `[from, stop)` that precedes a matching line; TEXT if there is none, WAIT if a
   * line is undecided.
   */
  find(text: string, from: number, stop: number, final: boolean): number {
    const found = this.#found - this.#base
    if (this.#found >= 0 && found >= from) return found < stop ? found : TEXT
    let at = Math.max(from, this.#searchedTo - this.#base)
    while (at < stop) {
      const newline = this.#findLineEnd(text, at)
      if (newline >= stop) break
      const matched = this.#isMatch(text, newline + 1, final)
      this.#searchedTo = this.#base + newline
      if (matched === WAIT) return WAIT
      if (matched) {
        this.#found = this.#base + newline
        return newline
      }
      at = newline + 1
    }
    this.#searchedTo = Math.max(this.#searchedTo, this.#base + Math.max(from, stop))
    return TEXT
  }

  /**
   * Returns the index of the next line ending. The index is cached, because the text may be one long line with many
   * tags.
   */
  #findLineEnd(text: string, at: number): number {
    const known = this.#lineEnd - this.#base
    if (known >= at && this.#isEnd) return known
    const found = text.indexOf("\n", Math.max(at, known))
    this.#isEnd = found >= 0
    const end = this.#isEnd ? found : text.length
    this.#lineEnd = end + this.#base
    return end
  }
}

/**
 * The absolute positions of the runs of one length. `nextIndex` is the index of the first run that may still close
 * inline code.
 */
interface BacktickRuns {
  readonly positions: number[]
  nextIndex: number
}

/**
 * Finds the run of backticks that closes inline code, in text that grows at the end and is removed from the start.
 *
 * The finder caches runs and paragraph ends, so for any text, all calls together cost one pass. Calls must go from left
 * to right.
 */
export class InlineCodeFinder {
  /** The absolute position of the text's first code unit. */
  #base = 0
  #runs = new Map<number, BacktickRuns>()
  /** All runs before this position have been recorded. */
  #searchedTo = 0
  /**
   * Finds the ends of paragraphs. A paragraph ends at the line ending that precedes the line that ends the paragraph.
   */
  readonly paragraphEnds = new LineFinder(isParagraphEnd)

  /** Must be called after the first `by` code units of the text were removed. */
  shift(by: number): void {
    this.#base += by
    this.paragraphEnds.shift(by)
  }

  /**
   * Returns the end of the inline code that the run of `size` backticks at `at` opens; otherwise TEXT or WAIT. The
   * closing run must be within MAX_PENDING_CHARS and in the same paragraph.
   */
  findCloser(text: string, at: number, size: number, final: boolean): number {
    const limit = at + MAX_PENDING_CHARS
    const from = at + size
    if (from + size > limit) return TEXT
    const run = this.#findRun(text, from, size, limit, final)
    if (run === TEXT || run + size > limit) return TEXT
    const end = this.paragraphEnds.find(text, from, run < 0 ? text.length : run, final)
    if (end >= 0) return TEXT
    return end === WAIT || run === WAIT ? WAIT : run + size
  }

  /**
   * Returns the start of the next run of exactly `size` backticks; TEXT if there is none before `limit`, WAIT if
   * undecided.
   */
  #findRun(text: string, from: number, size: number, limit: number, final: boolean): number {
    const known = this.#runs.get(size)
    if (known !== undefined) {
      while (known.nextIndex < known.positions.length && (known.positions[known.nextIndex] ?? 0) < from + this.#base)
        known.nextIndex++
      const at = known.positions[known.nextIndex]
      if (at !== undefined) return at - this.#base
    }
    let at = Math.max(from, this.#searchedTo - this.#base)
    while (at < limit) {
      const start = text.indexOf("`", at)
      at = start < 0 ? text.length : findRunEnd(text, start)
      const isOpen = at === text.length && !final
      this.#searchedTo = this.#base + (isOpen && start >= 0 ? start : at)
      if (isOpen) return at > limit || (start < 0 && at === limit) ? TEXT : WAIT
      if (start < 0) return TEXT
      this.#recordRun(start, at - start)
      if (at - start === size) return start
    }
    return TEXT
  }

  #recordRun(start: number, size: number): void {
    const runs = this.#runs.get(size)
    if (runs === undefined) this.#runs.set(size, { positions: [start + this.#base], nextIndex: 0 })
    else runs.positions.push(start + this.#base)
    if (runs === undefined || runs.nextIndex < 512 || runs.nextIndex * 2 < runs.positions.length) return
    runs.positions.splice(0, runs.nextIndex)
    runs.nextIndex = 0
  }
}

export type Block =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "code"; readonly info: string; readonly text: string; readonly closed: boolean }

/**
 * Splits text into fenced code and the text in between. One pass. SPEC CO1–CO3.
 *
 * Code blocks include neither their fences nor the quote markers and indentation of the opening run. A list marker
 * before a fence belongs to the text before the fence.
 */
export function splitFences(text: string): Block[] {
  const blocks: Block[] = []
  const line = createLineState()
  let from = 0
  let at = 0
  while (at < text.length) {
    FENCE_RUN.lastIndex = at
    const run = FENCE_RUN.exec(text)?.index ?? text.length
    trackText(line, text.slice(at, run))
    const end = run < text.length && line.place === "head" ? matchFence(text, run, true) : TEXT
    if (end === TEXT) {
      const next = run < text.length ? findRunEnd(text, run) : run
      trackText(line, text.slice(run, next))
      at = next
      continue
    }
    const head = text.slice(run - line.width, run)
    const lead = text.slice(from, /[-+*.)]/.test(head) ? run : run - line.width)
    if (lead !== "") blocks.push({ type: "text", text: lead })
    enterFence(line, text.charAt(run), end - run)
    at = readFence(blocks, line, text, end, head)
    // A line outside the quote that contains the fence is text from the line's start.
    from = at === text.length ? at : text.lastIndexOf("\n", at - 1) + 1
  }
  if (from < text.length) blocks.push({ type: "text", text: text.slice(from) })
  return blocks
}

const FENCE_RUN = /`{3}|~{3}/g

/** Reads the fence whose opening run ends at `end`. Returns the index at which plain text continues. */
function readFence(blocks: Block[], line: LineState, text: string, end: number, head: string): number {
  const quotes = line.quotes
  const stop = skipFence(line, text, end)
  const isClosed = isFenceClosed(line)
  const newline = text.indexOf("\n", end)
  const infoEnd = newline < 0 || newline > stop ? stop : newline
  const last = text.lastIndexOf("\n", stop - 1)
  // The line that ends the fence is not code: it closes the fence, or is outside the quote that contains the fence.
  const body = text.slice(infoEnd + 1, isClosed ? last : text.length)
  const code = isClosed || !body.endsWith("\n") ? body : body.slice(0, -1)
  const indent = head.length - (head.lastIndexOf(">") + 1)
  const lines = code.split("\n").map((row) => stripFencePrefix(row, quotes, indent))
  blocks.push({ type: "code", info: text.slice(end, infoEnd).trim(), text: lines.join("\n"), closed: isClosed })
  const next = line.fence === null && text[stop] === "\n" && line.place === "body" ? stop + 1 : stop
  if (next > stop) startLine(line)
  return next
}

/** Removes the `>` markers and the indentation of the fence from a line of code. */
function stripFencePrefix(row: string, quotes: number, indent: number): string {
  let at = 0
  for (let quotesLeft = quotes; quotesLeft > 0 && at < row.length; at++) if (row[at] === ">") quotesLeft--
  if (quotes > 0 && indent > 0 && row[at] === " ") at++
  const indentEnd = at + (quotes > 0 ? indent - 1 : indent)
  while (at < indentEnd && (row[at] === " " || row[at] === "\t")) at++
  return row.slice(at)
}

/** Splits sanitised text into code (fenced or inline) and other text. Joining the blocks gives the text. One pass. */
export function splitCode(text: string): { readonly code: boolean; readonly text: string }[] {
  const blocks: { code: boolean; text: string }[] = []
  const inlineCode = new InlineCodeFinder()
  const line = createLineState()
  let from = 0
  let at = 0
  while (at < text.length) {
    CODE_START.lastIndex = at
    const start = CODE_START.exec(text)?.index
    if (start === undefined) break
    trackText(line, text.slice(at, start))
    const end = findCodeEnd(text, start, line, inlineCode)
    at = Math.abs(end)
    if (end < 0) continue
    if (start > from) blocks.push({ code: false, text: text.slice(from, start) })
    blocks.push({ code: true, text: text.slice(start, end) })
    from = end
  }
  if (from < text.length) blocks.push({ code: false, text: text.slice(from) })
  return blocks
}

const CODE_START = /[`\\]|~~~/g

/** Returns the end of the code that starts at `at`; if there is none, the negated index at which to continue. */
function findCodeEnd(text: string, at: number, line: LineState, inlineCode: InlineCodeFinder): number {
  const isEscaped = text[at] === "\\"
  const end = isEscaped ? Math.min(at + 2, text.length) : findRunEnd(text, at)
  const fence = !isEscaped && end - at >= 3 && line.place === "head" ? matchFence(text, at, true) : TEXT
  if (fence >= 0) {
    enterFence(line, text.charAt(at), end - at)
    return skipFence(line, text, fence)
  }
  const closerEnd = text[at] === "`" ? inlineCode.findCloser(text, at, end - at, true) : TEXT
  trackText(line, text.slice(at, Math.max(end, closerEnd)))
  return closerEnd === TEXT ? -end : closerEnd
}
