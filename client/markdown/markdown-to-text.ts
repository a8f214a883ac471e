/**
 * markdown-to-text.ts: the words of a reply alone, for the announcer.
 *
 * segments → WORDS: no marks, no code, no tools, no thinking. Pure.
 */

import type { Segment } from "../../shared/protocol/segment.ts"
import { toExcerpt } from "../words/excerpt.ts"
import { describeMedia } from "../words/media-descriptions.ts"
import { createBlockReader } from "./markdown-blocks.ts"
import { decodeVisibleText } from "./html-entities.ts"
import type { ProseToken } from "./markdown-lexer.ts"

/** Longest announcement, in UTF-16 code units: a minute of speech. The rest is read in the transcript. */
const MAX_SPOKEN_CHARS = 1200

export function segmentsToSpokenText(segments: readonly Segment[]): string {
  const texts = segments.map((segment) => {
    if (segment.type === "text") return markdownToText(segment.content)
    if (segment.type === "media" || segment.type === "canvas") return `${describeMedia(segment)}.`
    return segment.type === "rich" ? markdownToText(segment.synthesis) : ""
  })
  return toExcerpt(texts.filter((text) => text !== "").join(" "), MAX_SPOKEN_CHARS)
}

function markdownToText(text: string): string {
  const blocks = createBlockReader()(text)
  const parts = blocks.map((block) => (block.type === "code" ? "Code." : tokenToText(block.token)))
  return parts.join(" ").replace(/\s+/g, " ").trim()
}

function tokenToText(token: ProseToken): string {
  if (token.type === "html" || token.type === "def" || token.type === "space") return " "
  if (token.items !== undefined) return tokensToText(token.items, " ")
  if (token.header !== undefined) {
    const rows = [token.header, ...(token.rows ?? [])]
    return rows.map((row) => row.map((cell) => tokensToText(cell.tokens)).join(", ")).join(". ")
  }
  if (token.tokens !== undefined) return tokensToText(token.tokens)
  return token.type === "text" ? decodeVisibleText(token.text ?? "") : (token.text ?? " ")
}

function tokensToText(tokens: readonly ProseToken[], separator = ""): string {
  return tokens.map(tokenToText).join(separator)
}
