/**
 * excerpt.ts: the beginning of a text, with a mark that there is more. Pure.
 */

/** At most `max` UTF-16 code units and the mark; a pair is not cut in two. */
export function excerpt(text: string, max: number): string {
  return text.length <= max
    ? text
    : `${text
        .slice(0, max)
        .replace(/[\ud800-\udbff]$/, "")
        .trimEnd()}…`
}
