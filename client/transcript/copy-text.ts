/**
 * copy-text.ts: the text that an answer's copy button copies. Pure. SPEC PG21, PG61.
 */

import type { Segment } from "../../shared/protocol/segment.ts"
import { describeMedia } from "../words/media-descriptions.ts"

/**
 * Returns the answer as Markdown, without thinking and tool calls, and with media replaced by the kind and name. The
 * server escapes `<` so that Markdown displays it; this function undoes the escaping.
 */
export function segmentsToCopyText(segments: readonly Segment[]): string {
  const texts = segments.map(segmentToText).filter((text) => text !== "")
  return texts.join("\n\n").replace(/&lt;(?=[A-Za-z/!?])/g, "<")
}

export function hasCopyText(segments: readonly Segment[]): boolean {
  return segments.some((segment) => segmentToText(segment) !== "")
}

function segmentToText(segment: Segment): string {
  if (segment.type === "text") return segment.content
  if (segment.type === "media" || segment.type === "canvas") return `[${describeMedia(segment)}]`
  if (segment.type === "source") return `- [${segment.title.replace(/[[\]\\]/g, "\\$&")}](<${segment.url}>)`
  return segment.type === "rich" ? segment.synthesis : ""
}
