/** clean-page-text.ts: removes invisible characters from a page's text. Pure. */

/**
 * Matches control characters except tab and line break, direction controls, zero-width separators, and the
 * tag characters, which can hide text from people. Joiners are kept, because scripts and emoji need them.
 */
const UNSEEN =
  /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e0fff}]/gu

/**
 * Returns the text with line breaks as `\n`, without invisible characters or lone surrogates, and with at most one
 * empty line.
 */
export function cleanPageText(text: string): string {
  const visible = text.replace(/\r\n?/g, "\n").replace(UNSEEN, "").toWellFormed()
  // Not with a regular expression: one that ends in `$` takes quadratic time for long runs of spaces.
  const lines = visible.split("\n").map((line) => line.trimEnd())
  return lines.join("\n").replace(/\n{3,}/g, "\n\n")
}
