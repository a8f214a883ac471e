/**
 * prose-edges.ts: removes the Markdown that is left over where a span splits the surrounding text.
 *
 * In `- **<span…>…</span>**` the span becomes a segment of its own. The bullet and the asterisks have no text left, so
 * they are removed. To make this possible, markup at the end of growing prose is held back until the text after it is
 * known. Pure: what is written depends only on the text so far, not on how that text was split.
 */

/** Maximum length of markup that is held back, in UTF-16 code units. Anything longer is text. */
const MAX_HELD_CHARS = 256

/** The end of the prose before a span: the text that is kept, and the markup that is removed if the span is closed. */
export interface CutProse {
  readonly kept: string
  readonly removed: string
  /** The emphasis that was opened directly before the span, for example `**`. */
  readonly opener: string
}

export interface ProseEdges {
  /** Adds text, and returns the text that can be shown. */
  push(text: string): string
  /** Ends the prose where a span begins. */
  cutAtSpan(): CutProse
  /** Ends the prose in any other case. Returns the rest of its text. */
  flush(): string
}

/** Leaves the prose unchanged. */
export const PLAIN_EDGES: ProseEdges = {
  push: (text) => text,
  cutAtSpan: () => ({ kept: "", removed: "", opener: "" }),
  flush: () => "",
}

/**
 * Creates the state that tracks one stretch of prose between two segments.
 *
 * Shapes: `opener` is the emphasis before the preceding span, or null if no span precedes the prose. `isLineStart`:
 * whether the prose begins at the start of a line. Cost: linear in the length of the text. At most MAX_HELD_CHARS are
 * held back.
 * Source: SPEC SG15, SG17.
 */
export function createProseEdges(opener: string | null, isLineStart: boolean): ProseEdges {
  let held = ""
  /** The incomplete marker before `held` if its line has only block markers so far, or null. */
  let head = isLineStart ? "" : null
  /** Whether the current run of markup is longer than MAX_HELD_CHARS. */
  let isOverlong = false
  let hasBegun = false
  let last = ""

  const writeText = (text: string): string => {
    if (text !== "") last = text.slice(-1)
    return text
  }
  const beginText = (text: string): string => {
    hasBegun = true
    const start = text.slice(0, MAX_HELD_CHARS + 1).replace(TAG_START, "")
    return opener === null || !hasWord(start) ? text : stripAfterSpan(text, opener)
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
        all = beginText(all)
      }
      const start = findMarkupStart(all, head)
      if (start > 0) isOverlong = false
      if (isOverlong || all.length - start > MAX_HELD_CHARS) {
        isOverlong = true
        head = findHead(all, head)
        return writeText(all)
      }
      if (start > 0) head = null
      held = all.slice(start)
      return writeText(all.slice(0, start))
    },
    cutAtSpan() {
      const text = hasBegun ? held : beginText(held)
      const run = findOpener(text, last)
      const kept = stripMarkers(text.slice(0, text.length - run.length), head === "")
      const isEmpty = last === "" && !hasWord(kept)
      // The emphasis that encloses both this span and the previous one.
      const enclosing = isEmpty && opener !== null ? findUnclosed(text, opener) : ""
      return { kept: isEmpty ? "" : kept, removed: isEmpty ? text : text.slice(kept.length), opener: enclosing + run }
    },
    flush() {
      const text = hasBegun ? held : beginText(held)
      held = ""
      const isEmpty = opener !== null && last === "" && !hasWord(stripMarkers(text, head === ""))
      return isEmpty ? "" : writeText(text)
    },
  }
}

/**
 * Matches anything but whitespace, punctuation, invisible characters and Markdown's ASCII symbols. Backticks match,
 * because code is text.
 */
const WORD = /[^\s\p{P}\p{Cf}$+<=>^|~]/u
/** Matches a tag without attributes. */
const BARE_TAG = /<\/?[a-z]+[1-6]?>/g
/** Matches an incomplete tag at the end of the text. */
const TAG_START = /<\/?[a-z]*[1-6]?$/

function hasWord(text: string): boolean {
  return WORD.test(text.includes("<") ? text.replace(BARE_TAG, "") : text)
}

/** Matches emphasis and the markers that may begin a line (`> - [x] 1. # |`). The last marker may be incomplete. */
const MARKERS = /^(?:[\s>|#+\-*_~]|\d{1,9}[.)]|\[[ xX]\])*(?:\d{1,9}|\[[ xX]?)?$/
const PARTIAL_MARKER = /(?:\d{1,9}|\[[ xX]?)$/
const INLINE_CHARS = /[*_~\s]/

/**
 * Returns the index from which the text consists only of markup: lines of block markers, emphasis, and whitespace.
 */
function findMarkupStart(text: string, head: string | null): number {
  let start = text.length
  while (start > 0) {
    const lineStart = text.lastIndexOf("\n", start - 1) + 1
    const before = lineStart > 0 ? "" : head
    const isWhole = before !== null && MARKERS.test(before + text.slice(lineStart, start))
    if (isWhole) start = lineStart
    else while (start > lineStart && INLINE_CHARS.test(text.charAt(start - 1))) start--
    if (start > lineStart || lineStart === 0) return start
    start = lineStart - 1
  }
  return start
}

/** Returns the incomplete marker at the end of the text if its last line has only block markers, or null. */
function findHead(text: string, head: string | null): string | null {
  const newline = text.lastIndexOf("\n")
  const before = newline >= 0 ? "" : head
  if (before === null) return null
  const line = before + text.slice(newline + 1)
  return MARKERS.test(line) ? (PARTIAL_MARKER.exec(line)?.[0] ?? "") : null
}

/**
 * Returns the run at the end of the text that opens emphasis, or "". After a word, a run closes emphasis. `before` is
 * the text before `text`.
 */
function findOpener(text: string, before: string): string {
  const [run] = /[*_~]*$/.exec(text) ?? [""]
  return /^[\s([{"'“‘«—–/>]?$/.test((before + text.slice(0, text.length - run.length)).slice(-1)) ? run : ""
}

const MARKER_LINE = /^(?:[ \t]*(?:[>|]|(?:[-+*]|\d{1,9}[.)]|#{1,6}|\[[ xX]\])(?=[ \t]|$)))+[ \t]*$/

/** Removes lines of block markers at the end, and the whitespace before these lines. */
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

/**
 * Matches whitespace after which a paragraph continues with text. On a new line, a digit doesn't count, because it may
 * begin a list item.
 */
const CONTINUATION = /^(?:[ \t]*(?![\s|*_~`<])|[ \t]*\n[ \t]*(?![\s|*_~`<>#+\-\d]))/

/**
 * Removes the markup that closes what was opened before the span. Emphasis that also encloses the text after the span
 * is reopened there. The search ends at the first word.
 */
function stripAfterSpan(text: string, opener: string): string {
  const prose = text.replace(END_TAGS, "")
  const [run] = LEADING_RUN.exec(prose) ?? [""]
  const isFollowedBySpace = /\s/.test(prose.charAt(run.length))
  const unclosed = findUnclosed(prose, opener)
  const isCloser = opener !== "" && unclosed === ""
  const size = isCloser ? opener.length : isFollowedBySpace ? run.length : 0
  const rest = prose.slice(size).replace(CELL_END, "")
  if (unclosed === "" || size < run.length) return rest
  return rest.replace(CONTINUATION, (space) => space + unclosed)
}

const LEADING_RUN = /^[*_~]*/

/**
 * Returns the part of `opener` that the run at the start of the text leaves open. For example, `_` closes all of `**_`
 * except `**`.
 */
function findUnclosed(text: string, opener: string): string {
  const [run] = LEADING_RUN.exec(text) ?? [""]
  const closer = [...opener].reverse().join("")
  if (run.startsWith(closer)) return ""
  return closer.startsWith(run) ? opener.slice(0, opener.length - run.length) : opener
}
