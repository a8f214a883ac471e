/**
 * prose-edges.ts: removes the Markdown that is left over where a span divides the text around it.
 *
 * In `- **<span…>…</span>**` the span becomes a segment of its own. Neither the bullet nor the asterisks then have any
 * text, so they are removed. For this, markup at the end of growing prose is held until the text after it decides. Pure:
 * what is written depends only on the text so far, not on how it was split.
 */

/** Longest markup that is held, in UTF-16 code units. Anything longer is text. */
const MAX_HELD_CHARS = 256

/** The prose before a span: the text that stays, and the markup that is removed if the span is closed. */
export interface CutProse {
  readonly kept: string
  readonly removed: string
  /** The emphasis that was opened directly before the span: `**`. */
  readonly opener: string
}

export interface ProseEdges {
  /** Adds text, and returns the text that can be shown. */
  push(text: string): string
  /** A span begins. */
  cutAtSpan(): CutProse
  /** The prose ends in another way. Returns the rest of its text. */
  flush(): string
}

/** For prose whose text stays as it is. */
export const PLAIN_EDGES: ProseEdges = {
  push: (text) => text,
  cutAtSpan: () => ({ kept: "", removed: "", opener: "" }),
  flush: () => "",
}

/**
 * Follows one prose between two segments.
 *
 * Shapes: `opener` is the emphasis before the span that the prose follows, or null if it follows no span. `isLineStart`:
 *         the prose begins at the start of a line.
 * Cost: linear. At most MAX_HELD_CHARS are held.
 * Source: SPEC SG15.
 */
export function createProseEdges(opener: string | null, isLineStart: boolean): ProseEdges {
  let held = ""
  /** The line in which `held` begins has only block markers so far. */
  let isHead = isLineStart
  /** The current run of markup is longer than MAX_HELD_CHARS. */
  let isOverlong = false
  let hasBegun = false
  let last = ""

  const write = (text: string): string => {
    if (text !== "") last = text.slice(-1)
    return text
  }
  const begin = (text: string): string => {
    hasBegun = true
    return opener === null || !hasWord(text.slice(0, MAX_HELD_CHARS + 1)) ? text : stripAfterSpan(text, opener)
  }
  return {
    push(text) {
      let all = held + text
      held = ""
      if (!hasBegun) {
        if (all.length <= MAX_HELD_CHARS && !hasWord(all.replace(TAG_START, ""))) {
          held = all
          return ""
        }
        all = begin(all)
      }
      const start = findMarkupStart(all, isHead)
      if (start > 0) isOverlong = false
      if (isOverlong || all.length - start > MAX_HELD_CHARS) {
        isOverlong = true
        isHead = isMarkerLine(all, isHead)
        return write(all)
      }
      if (start > 0) isHead = false
      held = all.slice(start)
      return write(all.slice(0, start))
    },
    cutAtSpan() {
      const text = hasBegun ? held : begin(held)
      const run = findOpener(text, last)
      const kept = stripMarkers(text.slice(0, text.length - run.length), isHead)
      const isEmpty = last === "" && !hasWord(kept)
      return { kept: isEmpty ? "" : kept, removed: isEmpty ? text : text.slice(kept.length), opener: run }
    },
    flush() {
      const text = hasBegun ? held : begin(held)
      held = ""
      const isEmpty = opener !== null && last === "" && !hasWord(stripMarkers(text, isHead))
      return isEmpty ? "" : write(text)
    },
  }
}

/** Anything but white space, punctuation, invisible characters and the ASCII symbols of Markdown. Backticks count, because code is text. */
const WORD = /[^\s\p{P}\p{Cf}$+<=>^|~]/u
/** A tag without attributes. */
const BARE_TAG = /<\/?[a-z]+[1-6]?>/g
/** A tag that is incomplete at the end of the text. */
const TAG_START = /<\/?[a-z]*[1-6]?$/

function hasWord(text: string): boolean {
  return WORD.test(text.includes("<") ? text.replace(BARE_TAG, "") : text)
}

/** The markers that may begin a line (`> - [x] 1. # |`), of which the last may be incomplete, and emphasis. */
const MARKERS = /^(?:[\s>|#+\-*_~]|\d{1,9}[.)]|\[[ xX]\])*(?:\d{1,9}|\[[ xX]?)?$/
const INLINE_CHARS = /[*_~\s]/

/** Index from which the text consists of markup: lines with block markers only, emphasis, and white space. */
function findMarkupStart(text: string, isHead: boolean): number {
  let start = text.length
  while (start > 0) {
    const lineStart = text.lastIndexOf("\n", start - 1) + 1
    const isWhole = (lineStart > 0 || isHead) && MARKERS.test(text.slice(lineStart, start))
    if (isWhole) start = lineStart
    else while (start > lineStart && INLINE_CHARS.test(text.charAt(start - 1))) start--
    if (start > lineStart || lineStart === 0) return start
    start = lineStart - 1
  }
  return start
}

/** Whether the last line of the text has only block markers. */
function isMarkerLine(text: string, isHead: boolean): boolean {
  const newline = text.lastIndexOf("\n")
  return (newline >= 0 || isHead) && MARKERS.test(text.slice(newline + 1))
}

/** The run at the end of the text that opens emphasis, or "". After a word, a run closes. `before` precedes the text. */
function findOpener(text: string, before: string): string {
  const [run] = /[*_~]*$/.exec(text) ?? [""]
  return /^[\s([{"'“‘«—–/>]?$/.test((before + text.slice(0, text.length - run.length)).slice(-1)) ? run : ""
}

const MARKER_LINE = /^(?:[ \t]*(?:[>|]|(?:[-+*]|\d{1,9}[.)]|#{1,6}|\[[ xX]\])(?=[ \t]|$)))+[ \t]*$/

/** Removes lines at the end that consist of block markers, and the white space before them. */
function stripMarkers(text: string, isHead: boolean): string {
  let end = text.length
  while (end > 0) {
    const lineStart = text.lastIndexOf("\n", end - 1) + 1
    const line = text.slice(lineStart, end)
    const isMarker = (lineStart > 0 || isHead) && MARKER_LINE.test(line)
    if (!isMarker && (line.trim() !== "" || end === text.length)) return text.slice(0, end)
    if (lineStart === 0) return isMarker ? "" : text.slice(0, end)
    end = lineStart - 1
  }
  return ""
}

const END_TAGS = /^(?:<\/[a-z]+[1-6]?>)+/
const CELL_END = /^[ \t]*\|[ \t]*(?=\n)/

/** Removes what closes the markup around a span. It looks no further than the first word. */
function stripAfterSpan(text: string, opener: string): string {
  const prose = text.replace(END_TAGS, "")
  const [run] = /^[*_~]*/.exec(prose) ?? [""]
  const isCloser = run.startsWith(opener) && opener !== ""
  const size = isCloser ? opener.length : /\s/.test(prose.charAt(run.length)) ? run.length : 0
  return prose.slice(size).replace(CELL_END, "")
}
