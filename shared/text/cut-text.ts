/**
 * cut-text.ts: shortens text without splitting a surrogate pair.
 *
 * Stored and sent text is UTF-8, which cannot represent half of a pair. Lengths are UTF-16 code units.
 */

/** Returns the largest index up to `maxChars` that does not split a surrogate pair. */
export function findCutIndex(text: string, maxChars: number): number {
  if (text.length <= maxChars) return text.length
  return isHighSurrogate(text.charCodeAt(maxChars - 1)) ? maxChars - 1 : maxChars
}

/** Returns the first `maxChars` code units of some text, or one fewer if the cut would split a surrogate pair. */
export function cutText(text: string, maxChars: number): string {
  return text.slice(0, findCutIndex(text, maxChars))
}

/** Does what `cutText` does, and appends a note that states how many code units were omitted. */
export function cutTextWithNote(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  const head = cutText(text, maxChars)
  return `${head}\n\n[${text.length - head.length} more characters omitted]`
}

/** Returns whether a code unit is the first half of a surrogate pair. */
export function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00
}
