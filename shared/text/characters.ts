/**
 * characters.ts: plain text of a model: where it may end, what may not stand in it, and what may not stand side by side.
 *
 * PLAIN → clean
 * Pure.
 */

/** Where plain text may end. A `<` before anything that starts no construct is plain. */
const SPECIAL = /[`\\\0-\x08\x0b-\x1f\u202d\u202e]|<(?=[A-Za-z/!?\0-\x08\x0b-\x1f\u202d\u202e]|$)|~~~/g
export const PUNCTUATION = /[!-/:-@[-`{-~]/
const TILDE = 126

/** Line ends become LF; a surrogate that stands alone becomes U+FFFD. */
export function normalizeText(text: string): string {
  return replaceLoneSurrogates(text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text)
}

/** A surrogate that stands alone, as it cannot be written in UTF-8, becomes U+FFFD. */
export function replaceLoneSurrogates(text: string): string {
  return LONE_SURROGATE.test(text) ? text.replace(LONE_SURROGATES, "\ufffd") : text
}

/** With the `u` flag a surrogate matches only where it stands alone. */
const LONE_SURROGATE = /[\ud800-\udfff]/u
const LONE_SURROGATES = /[\ud800-\udfff]/gu

/** May a `<` before it start a construct? A letter, `/`, `!` or `?`. */
export function isConstructStart(code: number): boolean {
  const lower = code | 32
  return (lower >= 97 && lower <= 122) || code === 47 || code === 33 || code === 63
}

/** Goes outside code: C0 but tab and newline, and the bidi overrides. */
export function isControl(code: number): boolean {
  return (code < 32 && code !== 9 && code !== 10) || code === 0x202d || code === 0x202e
}

/** Would the two, once nothing stands between them, make something new? */
export function isUnsafeJoin(last: string, next: string): boolean {
  if (last === "\\") return PUNCTUATION.test(next)
  if (last === "<") return isConstructStart(next.charCodeAt(0))
  return (last === "`" || last === "~") && last === next
}

/** Index of the next special thing; without `exec`, whose answer costs more than the search. */
export function findSpecial(text: string, at: number, final: boolean): number {
  SPECIAL.lastIndex = at
  if (!SPECIAL.test(text)) return final ? text.length : findTrailingTildes(text, at)
  const end = SPECIAL.lastIndex
  return text.charCodeAt(end - 1) === TILDE ? end - 3 : end - 1
}

/** Start of one or two tildes at the very end, which may yet be a fence. */
export function findTrailingTildes(text: string, from: number): number {
  let at = text.length
  while (at > from && at > text.length - 2 && text[at - 1] === "~") at--
  return at
}
