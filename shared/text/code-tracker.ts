/**
 * code-tracker.ts: what is Markdown code, decided once.
 *
 * line → CODE → clean, mark, directive, page
 * All four ask here, so they agree by construction. Fences are decided by their line and inline code by its
 * paragraph; indented code is not code.
 * Pure. Any cut of the text gives the same answers.
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
 * Finds the next line of some kind in a text that grows at its end and is taken away at its front.
 *
 * Remembers how far it has looked, so that all questions together cost one pass. Questions go from left to right.
 */
export class LineFinder {
  /** Absolute position of the text's first code unit. */
  #base = 0
  /** No such line between the last question and here, but perhaps at `#found`. */
  #searchedTo = 0
  #found = -1
  /** The next line end, or (not `#isEnd`) how far there is none. Absolute. */
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
   * The first line end in `[from, stop)` that such a line follows.
   *
   * Shapes  → an index, TEXT if there is none, WAIT if a line is not settled yet.
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

  /** Remembered, since a text may be one long line that is asked about at every tag. */
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

/** Runs of one length, by absolute position; `next` is the first that may still close something. */
interface BacktickRuns {
  readonly positions: number[]
  nextIndex: number
}

/**
 * Finds what closes inline code in a text that grows at its end and is taken away at its front.
 *
 * Remembers runs and paragraph ends it has passed, so that all questions together cost one pass,
 * whatever the text. Questions must be asked from left to right.
 */
export class InlineCodeFinder {
  /** Absolute position of the text's first code unit. */
  #base = 0
  #runs = new Map<number, BacktickRuns>()
  /** Runs before here are known. */
  #searchedTo = 0
  /** Where paragraphs end: at the line end before the line that ends them. */
  readonly paragraphEnds = new LineFinder(isParagraphEnd)

  /** The first `by` code units of the text are taken away. */
  shift(by: number): void {
    this.#base += by
    this.paragraphEnds.shift(by)
  }

  /**
   * End of the inline code that the maximal run of `size` at `at` opens.
   *
   * Shapes  → an index, TEXT or WAIT. Both runs lie within MAX_HELD and in one paragraph.
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

  /** Start of the next run of exactly `size`, TEXT if there is none before `limit`, WAIT if that is open. */
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
 * Cuts a text into fenced code and what stands between.
 *
 * Shapes  text → blocks in order. Code comes without its fences, and its lines without the quote marks and the
 *         indentation that its opening run stands behind. A list marker in front of a fence stays in the text before it.
 * Cost    one pass.
 * Source  SPEC CO1–CO3.
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
    // A line that stands outside the fence's quote is text from its head on.
    from = at === text.length ? at : text.lastIndexOf("\n", at - 1) + 1
  }
  if (from < text.length) blocks.push({ type: "text", text: text.slice(from) })
  return blocks
}

const FENCE_RUN = /`{3}|~{3}/g

/** Reads the fence whose opening run ends at `end`; → where plain text goes on. */
function readFence(blocks: Block[], line: LineState, text: string, end: number, head: string): number {
  const quotes = line.quotes
  const stop = skipFence(line, text, end)
  const isClosed = isFenceClosed(line)
  const newline = text.indexOf("\n", end)
  const infoEnd = newline < 0 || newline > stop ? stop : newline
  const last = text.lastIndexOf("\n", stop - 1)
  // The line that ends the fence is no code: it closes it, or stands outside its quote.
  const body = text.slice(infoEnd + 1, isClosed ? last : text.length)
  const code = isClosed || !body.endsWith("\n") ? body : body.slice(0, -1)
  const indent = head.length - (head.lastIndexOf(">") + 1)
  const lines = code.split("\n").map((row) => stripFencePrefix(row, quotes, indent))
  blocks.push({ type: "code", info: text.slice(end, infoEnd).trim(), text: lines.join("\n"), closed: isClosed })
  const next = line.fence === null && text[stop] === "\n" && line.place === "body" ? stop + 1 : stop
  if (next > stop) startLine(line)
  return next
}

/** A line of code without the `>` marks and the indentation of its fence. */
function stripFencePrefix(row: string, quotes: number, indent: number): string {
  let at = 0
  for (let quotesLeft = quotes; quotesLeft > 0 && at < row.length; at++) if (row[at] === ">") quotesLeft--
  if (quotes > 0 && indent > 0 && row[at] === " ") at++
  const indentEnd = at + (quotes > 0 ? indent - 1 : indent)
  while (at < indentEnd && (row[at] === " " || row[at] === "\t")) at++
  return row.slice(at)
}

/**
 * Cuts a whole text into code, inline code too, and what stands between. For clean text: tags are not looked at.
 *
 * Shapes  the pieces joined are the text.
 * Cost    one pass.
 */
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

/** End of the code that starts at `at`, or minus the index where to look on. */
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
