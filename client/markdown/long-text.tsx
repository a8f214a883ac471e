/**
 * long-text.tsx: renders a long run of text in pieces of bounded length.
 *
 * The browser takes quadratic time to break a paragraph without spaces into lines, and lays out the whole paragraph
 * again when it grows. Each piece is a block of its own, so its line breaks are computed only once. No character is
 * added or lost. SPEC PF3.
 */

import type { ComponentChildren } from "preact"
import { findCutIndex } from "../../shared/text/cut-text.ts"

/** Maximum length of a piece, in UTF-16 code units. Longer text is split at a space. */
const MAX_TEXT_CHARS = 8_000
/** Maximum length of a run without spaces, in UTF-16 code units. A longer run is split anywhere. */
const MAX_RUN_CHARS = 1_000

/** Matches positions at which lines may break: whitespace and CJK characters. */
const LINE_BREAK = /[\s\u2e80-\ud7ff\uff00-\uffef]+/g

/** Renders the text in pieces. Returns the text itself if it is short. */
export function renderLongText(text: string): ComponentChildren {
  if (text.length <= MAX_RUN_CHARS) return text
  const pieces = splitLongText(text)
  return pieces.length === 1
    ? text
    : pieces.map((piece, at) => (
        <span key={at} class="piece">
          {piece}
        </span>
      ))
}

/** Splits text into pieces whose concatenation is the same text. Cost: linear in the length of the text. Pure. */
export function splitLongText(text: string): readonly string[] {
  const pieces: string[] = []
  let from = 0
  let lastBreak = 0
  const cutAt = (end: number): void => {
    pieces.push(text.slice(from, end))
    from = end
  }
  /** Handles a run without a line break that ends at `end`. */
  const addRun = (end: number): void => {
    if (end - lastBreak > 2 * MAX_RUN_CHARS) {
      if (lastBreak > from) cutAt(lastBreak)
      while (end - from > MAX_RUN_CHARS)
        cutAt(from + findCutIndex(text.slice(from, from + MAX_RUN_CHARS + 1), MAX_RUN_CHARS))
    } else if (end - from > MAX_TEXT_CHARS && lastBreak > from) cutAt(lastBreak)
  }
  for (const { 0: space, index } of text.matchAll(LINE_BREAK)) {
    addRun(index)
    lastBreak = index + space.length
    while (lastBreak - from > MAX_TEXT_CHARS) cutAt(from + MAX_TEXT_CHARS)
  }
  addRun(text.length)
  if (from < text.length) pieces.push(text.slice(from))
  return pieces
}
