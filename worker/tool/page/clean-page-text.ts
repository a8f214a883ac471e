/** clean-page-text.ts: removes the characters of a page's text that its readers don't see. Pure. */

/**
 * Control characters except tab and line break, changes of direction, characters without width that only separate, and the
 * tag characters that can hide text from people. Joiners stay, because scripts and emoji need them.
 */
const UNSEEN =
  /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e0fff}]/gu

/** The text with line breaks as `\n`, without unseen characters and halves of pairs, and with at most one empty line. */
export function cleanPageText(text: string): string {
  const seen = text.replace(/\r\n?/g, "\n").replace(UNSEEN, "").toWellFormed()
  // Not by a pattern: one that ends in `$` takes quadratic time in long rows of spaces.
  const lines = seen.split("\n").map((line) => line.trimEnd())
  return lines.join("\n").replace(/\n{3,}/g, "\n\n")
}
