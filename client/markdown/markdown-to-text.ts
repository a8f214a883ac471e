/**
 * markdown-to-text.ts: the words of a reply alone, for the announcer.
 *
 * segments → WORDS: no marks, no code, no tools, no thinking. Pure.
 */

import type { Segment } from "../../shared/protocol/frame.ts"
import { excerpt } from "../words/excerpt.ts"
import { mediaWords } from "../words/media-descriptions.ts"
import { createBlockReader } from "./markdown-blocks.ts"
import { decodeWords } from "./html-entities.ts"
import type { ProseToken } from "./markdown-lexer.ts"

/** Longest announcement, in UTF-16 code units: a minute of speech. The rest is read in the transcript. */
const MAX_SPOKEN_CHARS = 1200

export function spokenWords(segments: readonly Segment[]): string {
  const texts = segments.map((segment) => {
    if (segment.type === "text") return wordsIn(segment.content)
    if (segment.type === "media" || segment.type === "canvas") return `${mediaWords(segment)}.`
    return segment.type === "rich" ? wordsIn(segment.synthesis) : ""
  })
  return excerpt(texts.filter((text) => text !== "").join(" "), MAX_SPOKEN_CHARS)
}

function wordsIn(text: string): string {
  const blocks = createBlockReader()(text)
  const parts = blocks.map((block) => (block.type === "code" ? "Code." : wordsOfToken(block.token)))
  return parts.join(" ").replace(/\s+/g, " ").trim()
}

function wordsOfToken(token: ProseToken): string {
  if (token.type === "html" || token.type === "def" || token.type === "space") return " "
  if (token.items !== undefined) return wordsOfTokens(token.items, " ")
  if (token.header !== undefined) {
    const rows = [token.header, ...(token.rows ?? [])]
    return rows.map((row) => row.map((cell) => wordsOfTokens(cell.tokens)).join(", ")).join(". ")
  }
  if (token.tokens !== undefined) return wordsOfTokens(token.tokens)
  return token.type === "text" ? decodeWords(token.text ?? "") : (token.text ?? " ")
}

function wordsOfTokens(tokens: readonly ProseToken[], between = ""): string {
  return tokens.map(wordsOfToken).join(between)
}
