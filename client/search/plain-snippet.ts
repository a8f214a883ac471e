/**
 * plain-snippet.ts: an excerpt of an answer without the marks of Markdown, which the answer doesn't show either. Pure.
 *
 * An excerpt begins and ends anywhere, so it can't be parsed as Markdown. Marks that may also be text are kept. Source:
 * SPEC LB9.
 */

import type { SnippetPart } from "../../shared/protocol/http-body.ts"

/** Noncharacters, which no message contains. They mark the beginning and the end of a hit. */
const HIT_START = "\u{FDD0}"
const HIT_END = "\u{FDD1}"
const HIT = /\u{FDD0}([^\u{FDD1}]*)\u{FDD1}/u

const LINK = /!?\[([^\][]*)\]\(([^)\s…]*[:/][^)\s…]*)(?:\)|(?=…|$))/gu
const EMPHASIS = /(?:\*\*|~~)(?=\S)|(?<=\S)(?:\*\*|~~)|`+/gu
const HEADING = /(?<=^|\s|…)#{1,6}\s/gu

/** Removes marks of emphasis, code, headings and links. URLs are removed, unless all hits are in URLs. */
export function toPlainSnippet(parts: readonly SnippetPart[]): SnippetPart[] {
  const text = parts.map((part) => (part.hit ? HIT_START + part.text + HIT_END : part.text)).join("")
  const withoutUrls = text.replace(LINK, "$1")
  const hasHitInUrl = text.includes(HIT_START) && !withoutUrls.includes(HIT_START)
  const shown = hasHitInUrl ? text : withoutUrls
  const plain = shown.replace(EMPHASIS, "").replace(HEADING, "")
  // Every second piece is a hit.
  return plain.split(HIT).flatMap((piece, at) => (piece === "" ? [] : [{ text: piece, hit: at % 2 === 1 }]))
}
