/**
 * snippet.ts: creates a snippet: the part of a message's text that best shows why the message was found, with the hits
 * marked. Pure.
 */

import type { SnippetPart } from "../../shared/protocol/http-body.ts"
import type { Phrase } from "./search-query.ts"
import { listWords, type Word } from "./word-list.ts"

/** Length of a snippet, in UTF-16 code units: about two lines. */
const SNIPPET_CHARS = 180
/** Number of the snippet's code units that precede the first hit. */
const LEAD_CHARS = 50
/** Maximum number of hits that are considered. */
const MAX_MATCHES = 500

interface Match {
  readonly start: number
  readonly end: number
  /** Index of the phrase. */
  readonly phrase: number
}

export interface Snippet {
  readonly parts: readonly SnippetPart[]
  /** Number of different phrases that occur in the whole text. */
  readonly found: number
}

/** Creates the snippet. Cost: linear in the length of the text, for each phrase. */
export function createSnippet(text: string, phrases: readonly Phrase[]): Snippet {
  const words = listWords(text)
  const matches = findMatches(words, phrases)
  const found = new Set(matches.map(({ phrase }) => phrase)).size
  const first = findDensest(matches)
  const start = first === null ? 0 : snapToWord(words, Math.max(0, first.start - LEAD_CHARS))
  const end = cutEnd(words, text, start + SNIPPET_CHARS)
  const shown = matches.filter((match) => match.start >= start && match.end <= end)
  const parts = markHits(text, { start, end }, shown)
  const ellipsis = { text: "…", hit: false }
  return {
    parts: [...(start > 0 ? [ellipsis] : []), ...parts, ...(end < text.length ? [ellipsis] : [])],
    found,
  }
}

/** Whether each phrase occurs among the words. */
export function hasAllPhrases(words: readonly Word[], phrases: readonly Phrase[]): boolean {
  return phrases.every((phrase) => words.some((_word, at) => isMatchAt(words, at, phrase)))
}

function findMatches(words: readonly Word[], phrases: readonly Phrase[]): Match[] {
  const matches: Match[] = []
  for (const [at, word] of words.entries()) {
    const phrase = phrases.findIndex((candidate) => isMatchAt(words, at, candidate))
    if (phrase < 0) continue
    const last = words[at + (phrases[phrase]?.words.length ?? 1) - 1] ?? word
    matches.push({ start: word.start, end: last.end, phrase })
    if (matches.length === MAX_MATCHES) break
  }
  return matches
}

function isMatchAt(words: readonly Word[], at: number, { words: wanted, isPrefix }: Phrase): boolean {
  return wanted.every(({ text }, i) => {
    const word = words[at + i]
    if (word === undefined) return false
    return isPrefix && i === wanted.length - 1 ? word.text.startsWith(text) : word.text === text
  })
}

/** Returns the first match in the window that contains the most distinct phrases. */
function findDensest(matches: readonly Match[]): Match | null {
  let best: { match: Match; count: number } | null = null
  for (const [at, match] of matches.entries()) {
    const phrases = new Set<number>()
    for (let i = at; i < matches.length; i++) {
      const other = matches[i]
      if (other === undefined || other.end > match.start + SNIPPET_CHARS - LEAD_CHARS) break
      phrases.add(other.phrase)
    }
    if (best === null || phrases.size > best.count) best = { match, count: phrases.size }
  }
  return best?.match ?? null
}

/** Returns the beginning of the first word at or after an offset. */
function snapToWord(words: readonly Word[], offset: number): number {
  return offset === 0 ? 0 : (words.find(({ start }) => start >= offset)?.start ?? offset)
}

/**
 * Returns the end of the last word that ends at or before an offset, so that no word is cut. If that word is too far
 * back, returns the offset itself.
 */
function cutEnd(words: readonly Word[], text: string, offset: number): number {
  if (offset >= text.length) return text.length
  const end = words.findLast((word) => word.end <= offset)?.end ?? 0
  return end > offset - SNIPPET_CHARS / 2 ? end : offset
}

function markHits(
  text: string,
  range: { readonly start: number; readonly end: number },
  matches: readonly Match[],
): SnippetPart[] {
  const parts: SnippetPart[] = []
  let at = range.start
  const push = (to: number, hit: boolean): void => {
    const part = text.slice(at, to).toWellFormed().replace(/\s+/g, " ")
    if (part !== "") parts.push({ text: part, hit })
    at = to
  }
  for (const { start, end } of matches) {
    // Matches can overlap, so this one may already be marked.
    if (end <= at) continue
    push(Math.max(start, at), false)
    push(end, true)
  }
  push(range.end, false)
  return mergeHits(parts)
}

/** Joins neighbouring parts of the same kind. */
function mergeHits(parts: readonly SnippetPart[]): SnippetPart[] {
  const merged: SnippetPart[] = []
  for (const part of parts) {
    const last = merged.at(-1)
    if (last?.hit === part.hit) merged[merged.length - 1] = { text: last.text + part.text, hit: part.hit }
    else merged.push(part)
  }
  return merged
}
