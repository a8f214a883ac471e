/**
 * word-list.ts: splits text into the words of the search index, folded so that case and diacritics do not matter. Pure.
 *
 * Scripts that put no spaces between words (Chinese, Japanese, Thai and others) are split into units of one character
 * with its marks. The index contains each pair of neighbouring units, so that any part of such text can be found,
 * whatever a dictionary would regard as its words.
 */

export interface Word {
  /** Offsets in the text, in UTF-16 code units. */
  readonly start: number
  readonly end: number
  /** The folded text. */
  readonly text: string
  /** Whether this is one character of a script without spaces. */
  readonly isUnit: boolean
}

/** A search term: a word, or a pair of units. */
export interface Term {
  readonly text: string
  /** Whether words that begin with the text match too. */
  readonly isPrefix: boolean
}

/** Maximum length of a word in the index, in UTF-16 code units. Longer words, such as encoded data, are cut. */
const MAX_WORD_CHARS = 64

const UNSPACED = String.raw`\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}`
const WORD_PATTERN = new RegExp(
  String.raw`((?=[\p{L}\p{N}])[${UNSPACED}]\p{M}*)|(?:(?![${UNSPACED}])[\p{L}\p{N}]|(?!\p{sc=Thai})\p{M})+`,
  "gu",
)

/** Marks that a search ignores: accents, vowel points of Hebrew and Arabic, and the Arabic letter stretcher. */
const IGNORED_MARKS = /[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]/g

/** Letters that a search treats as other letters, and that Unicode does not decompose. */
const PLAIN_LETTERS: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ı: "i",
  ٱ: "ا",
  ى: "ي",
}
const PLAIN_LETTER_PATTERN = new RegExp(`[${Object.keys(PLAIN_LETTERS).join("")}]`, "g")

/** Matches text that contains only ASCII. */
const ASCII = /^[\x00-\x7f]*$/

/** Returns the words in the text, in order. Cost: linear in the length of the text. */
export function listWords(text: string): Word[] {
  const words: Word[] = []
  for (const match of text.matchAll(WORD_PATTERN)) {
    const [found, unit] = match
    const folded = fold(found)
    if (folded === "") continue
    words.push({ start: match.index, end: match.index + found.length, text: folded, isUnit: unit !== undefined })
  }
  return words
}

function fold(word: string): string {
  const lower = word.slice(0, MAX_WORD_CHARS).toLowerCase()
  if (ASCII.test(lower)) return lower
  return lower
    .normalize("NFKD")
    .replace(IGNORED_MARKS, "")
    .normalize("NFC")
    .replace(PLAIN_LETTER_PATTERN, (letter) => PLAIN_LETTERS[letter] ?? letter)
}

/** Converts text to the form that the index stores: its terms, separated by spaces. */
export function toIndexText(text: string): string {
  return wordsToTerms(listWords(text))
    .map((term) => term.text)
    .join(" ")
}

/**
 * Returns the terms of words. A run of units becomes the pairs of neighbouring units and the last unit, so that a
 * single unit is found as the beginning of a pair. With `isQuery`, the last unit is left out if a run of two or more
 * units ends the query.
 */
export function wordsToTerms(words: readonly Word[], isQuery = false): Term[] {
  return words.flatMap((word, at) => {
    if (!word.isUnit) return [{ text: word.text, isPrefix: false }]
    const next = words[at + 1]
    if (next !== undefined && isAdjacent(word, next)) return [{ text: word.text + next.text, isPrefix: false }]
    const previous = words[at - 1]
    const isLastOfRun = previous !== undefined && isAdjacent(previous, word)
    if (isQuery && isLastOfRun && next === undefined) return []
    return [{ text: word.text, isPrefix: isQuery && next === undefined }]
  })
}

/** Whether two units belong to one run. */
function isAdjacent(word: Word, next: Word): boolean {
  return word.isUnit && next.isUnit && word.end === next.start
}
