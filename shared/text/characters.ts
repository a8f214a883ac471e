/**
 * characters.ts: the characters that matter when model text is scanned: special characters, control characters,
 * surrogates, and pairs that form syntax.
 */

/**
 * Matches characters that may be syntax and so must be examined. A `<` that cannot start an HTML construct is skipped.
 */
const SPECIAL = /[`\\\0-\x08\x0b-\x1f\u202d\u202e]|<(?=[A-Za-z/!?\0-\x08\x0b-\x1f\u202d\u202e]|$)|~~~/g
export const PUNCTUATION = /[!-/:-@[-`{-~]/
const TILDE = 126

/** Replaces line endings with LF and lone surrogates with U+FFFD. */
export function normalizeText(text: string): string {
  return replaceLoneSurrogates(text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text)
}

/** Replaces lone surrogates, which UTF-8 cannot represent, with U+FFFD. */
export function replaceLoneSurrogates(text: string): string {
  return LONE_SURROGATE.test(text) ? text.replace(LONE_SURROGATES, "\ufffd") : text
}

/** With the `u` flag, only surrogates outside a pair match. */
const LONE_SURROGATE = /[\ud800-\udfff]/u
const LONE_SURROGATES = /[\ud800-\udfff]/gu

/**
 * Returns whether `<` followed by this character may start an HTML construct: whether the character is a letter, `/`,
 * `!` or `?`.
 */
export function isConstructStart(code: number): boolean {
  const lower = code | 32
  return (lower >= 97 && lower <= 122) || code === 47 || code === 33 || code === 63
}

/**
 * Returns whether a character is removed outside code: a C0 control other than tab or newline, or a bidi override.
 */
export function isControl(code: number): boolean {
  return (code < 32 && code !== 9 && code !== 10) || code === 0x202d || code === 0x202e
}

/** Returns whether two characters form new syntax when the text between them is removed. */
export function isUnsafeJoin(last: string, next: string): boolean {
  if (last === "\\") return PUNCTUATION.test(next)
  if (last === "<") return isConstructStart(next.charCodeAt(0))
  return (last === "`" || last === "~") && last === next
}

/** Returns whether a code unit is part of a word. Halves of surrogate pairs are; the word joiner is not. */
export function isWordUnit(unit: string): boolean {
  return /^[\p{L}\p{N}\ud800-\udfff]$/u.test(unit)
}

/**
 * Returns the index of the next special character. Uses `test`, because creating the result of `exec` would cost more
 * than the search.
 */
export function findSpecial(text: string, at: number, final: boolean): number {
  SPECIAL.lastIndex = at
  if (!SPECIAL.test(text)) return final ? text.length : findTrailingTildes(text, at)
  const end = SPECIAL.lastIndex
  return text.charCodeAt(end - 1) === TILDE ? end - 3 : end - 1
}

/** Returns the index of one or two tildes at the end of the text, which further text may turn into a fence. */
export function findTrailingTildes(text: string, from: number): number {
  let at = text.length
  while (at > from && at > text.length - 2 && text[at - 1] === "~") at--
  return at
}
