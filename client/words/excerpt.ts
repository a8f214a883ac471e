/**
 * excerpt.ts: the beginning of a text, with a mark that there is more. Pure.
 */

/** At most `max` UTF-16 code units and the mark; a pair is not cut in two. */
export function toExcerpt(text: string, maxChars: number): string {
  return text.length <= maxChars
    ? text
    : `${text
        .slice(0, maxChars)
        .replace(/[\ud800-\udbff]$/, "")
        .trimEnd()}…`
}
