/**
 * search-query.ts: parses what a user searches for into phrases, and writes them as an expression for SQLite's FTS5.
 * Pure.
 *
 * Words in quotation marks must follow each other; so must the parts of a word such as `e-mail`. All phrases must
 * occur. The last word may be incomplete. The expression never contains the text exactly as the user typed it. It
 * contains only letters, digits and marks, in quotation marks.
 */

import { listWords, type Term, type Word, wordsToTerms } from "./word-list.ts"

/** Maximum length of a query, in UTF-16 code units, and maximum number of its terms. People type less. */
export const MAX_QUERY_CHARS = 200
export const MAX_QUERY_TERMS = 40

/** Minimum length of a word that is completed, in UTF-16 code units. A single letter begins too many words. */
const MIN_PREFIX_CHARS = 2

/** Words that follow each other. */
export interface Phrase {
  readonly words: readonly Word[]
  readonly terms: readonly Term[]
  /** Whether the last word may be the beginning of a longer one. */
  readonly isPrefix: boolean
}

const CHUNK_PATTERN = /"([^"]*)"?|[^\s"]+/g
const HANGUL = /\p{sc=Hangul}$/u

/** Parses the phrases of a query; null if it has no words, or too many. */
export function parseSearchQuery(query: string): Phrase[] | null {
  const chunks = [...query.matchAll(CHUNK_PATTERN)]
  const isOpenEnded = !/\s$/.test(query)
  const phrases = chunks.flatMap(([chunk, quoted], at) => {
    const phrase = toPhrase(quoted ?? chunk, quoted === undefined && isOpenEnded && at === chunks.length - 1)
    return phrase === null ? [] : [phrase]
  })
  const terms = phrases.reduce((sum, phrase) => sum + phrase.terms.length, 0)
  return terms === 0 || terms > MAX_QUERY_TERMS ? null : phrases
}

function toPhrase(text: string, isLast: boolean): Phrase | null {
  const words = listWords(text)
  const terms = wordsToTerms(words, true)
  const last = words.at(-1)
  if (last === undefined || terms.length === 0) return null
  // In Korean, particles are attached to words.
  const isCompleted = (isLast || HANGUL.test(last.text)) && last.text.length >= MIN_PREFIX_CHARS
  const isPrefix = terms.at(-1)?.isPrefix === true || (!last.isUnit && isCompleted)
  return { words, terms, isPrefix }
}

/** Returns the phrases as an expression of FTS5, for the given columns. */
export function phrasesToMatch(phrases: readonly Phrase[], columns: readonly string[]): string {
  const terms = phrases.map((phrase) => {
    const words = phrase.terms.map(({ text }) => text.replaceAll('"', ""))
    return `"${words.join(" ")}"${phrase.isPrefix ? " *" : ""}`
  })
  return `{${columns.join(" ")}} : (${terms.join(" AND ")})`
}
