/** read-aloud.ts: reads an answer aloud with the browser's voices, one answer at a time. Source: SPEC WR35. */

import { type ReadonlySignal, signal } from "@preact/signals"

/** Maximum length of an utterance, in UTF-16 code units. Some browsers stop in the middle of longer text. */
const MAX_UTTERANCE_CHARS = 200

const reading = signal<string | null>(null)

/** The id of the answer that is being read; null if none is. */
export const readingId: ReadonlySignal<string | null> = reading

export function canReadAloud(): boolean {
  return typeof speechSynthesis === "object" && typeof SpeechSynthesisUtterance === "function"
}

/**
 * Reads text aloud. `language` is a language tag. Its extensions, such as the digits to use, are not part of a voice's
 * tag.
 */
export function startReading(id: string, text: string, language: string): void {
  speechSynthesis.cancel()
  reading.value = id
  const pieces = splitSentences(text)
  if (pieces.length === 0) reading.value = null
  pieces.forEach((piece, at) => {
    const utterance = new SpeechSynthesisUtterance(piece)
    utterance.lang = language.replace(/-u-.*/, "")
    const isLast = at === pieces.length - 1
    const handleEnd = (): void => {
      if (isLast && reading.peek() === id) reading.value = null
    }
    utterance.onend = handleEnd
    utterance.onerror = handleEnd
    speechSynthesis.speak(utterance)
  })
}

export function stopReading(): void {
  reading.value = null
  speechSynthesis.cancel()
}

/** Splits text at the ends of sentences into pieces that every browser reads to the end. */
export function splitSentences(text: string): string[] {
  const pieces: string[] = []
  for (const sentence of text.match(/[^.!?。！？؟।\n]+[.!?。！？؟।\n]*\s*|[.!?。！？؟।\n\s]+/gu) ?? []) {
    const last = pieces.at(-1)
    if (last !== undefined && last.length + sentence.length <= MAX_UTTERANCE_CHARS) {
      pieces[pieces.length - 1] = last + sentence
      continue
    }
    for (let at = 0; at < sentence.length; ) {
      const end = findPieceEnd(sentence, at)
      pieces.push(sentence.slice(at, end))
      at = end
    }
  }
  return pieces.filter((piece) => piece.trim() !== "")
}

/** Returns the index at which a piece of a long sentence ends, which is after a space if there is one. */
function findPieceEnd(sentence: string, from: number): number {
  if (sentence.length - from <= MAX_UTTERANCE_CHARS) return sentence.length
  const space = sentence.lastIndexOf(" ", from + MAX_UTTERANCE_CHARS)
  return space > from ? space + 1 : from + MAX_UTTERANCE_CHARS
}

/**
 * Guesses the language of text from its script. Returns null if the script is Latin or unknown; in that case, the
 * page's language is the best guess.
 */
export function guessLanguage(text: string): string | null {
  const sample = text.slice(0, 1_000)
  const scripts: readonly (readonly [RegExp, string])[] = [
    [/[\p{sc=Hiragana}\p{sc=Katakana}]/gu, "ja"],
    [/\p{sc=Hangul}/gu, "ko"],
    [/\p{sc=Han}/gu, "zh"],
    [/\p{sc=Arabic}/gu, "ar"],
    [/\p{sc=Hebrew}/gu, "he"],
    [/\p{sc=Devanagari}/gu, "hi"],
    [/\p{sc=Cyrillic}/gu, "ru"],
    [/\p{sc=Greek}/gu, "el"],
    [/\p{sc=Thai}/gu, "th"],
  ]
  const letters = sample.match(/\p{L}/gu)?.length ?? 0
  const found = scripts.find(([script]) => (sample.match(script)?.length ?? 0) * 4 > letters)
  return letters === 0 ? null : (found?.[1] ?? null)
}
