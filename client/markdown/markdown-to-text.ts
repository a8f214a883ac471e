/**
 * markdown-to-text.ts: the plain text of an answer, for the announcer and for quotes.
 *
 * Markup, tool calls and thinking are omitted. A code block is announced as a code block, media by kind and name. Pure.
 * SPEC PG17, PG61.
 */

import type { Segment } from "../../shared/protocol/segment.ts"
import { toExcerpt } from "../words/format/excerpt.ts"
import { describeMedia } from "../words/media-descriptions.ts"
import { readingText } from "../words/parts/reading-text.ts"
import { createBlockReader } from "./markdown-blocks.ts"
import { tokenToText } from "./syntax/token-text.ts"
import { measureText, SLICE_COST } from "./text-part.ts"

/** Maximum length of an announcement, in UTF-16 code units: about a minute of speech. */
const MAX_SPOKEN_CHARS = 1200

export function segmentsToSpokenText(segments: readonly Segment[]): string {
  let spoken = ""
  for (const segment of segments) {
    const text = segmentToText(segment)
    if (text !== "") spoken += spoken === "" ? text : ` ${text}`
    if (spoken.length > MAX_SPOKEN_CHARS) break
  }
  return toExcerpt(spoken, MAX_SPOKEN_CHARS)
}

function segmentToText(segment: Segment): string {
  if (segment.type === "text") return markdownToText(segment.content)
  if (segment.type === "media" || segment.type === "canvas") return `${describeMedia(segment)}.`
  return segment.type === "rich" ? markdownToText(segment.synthesis) : ""
}

/** Returns the text to announce. Reads only the beginning of long text. */
export function markdownToText(text: string): string {
  const blocks = createBlockReader()(text.slice(0, measureText(text, SLICE_COST).end))
  const parts = blocks.map((block) => (block.type === "code" ? readingText.spokenCode : tokenToText(block.token)))
  return parts.join(" ").replace(/\s+/g, " ").trim()
}
