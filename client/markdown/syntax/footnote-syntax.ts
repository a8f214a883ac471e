/**
 * footnote-syntax.ts: recognises footnotes in Markdown text: `[^label]` and `[^label]: text`. Pure. SPEC MD15.
 */

/** Maximum length of a footnote's label, in UTF-16 code units. */
const MAX_LABEL_CHARS = 100

/** The source of a regular expression that matches `[^label]`. */
export const FOOTNOTE_LABEL = `\\[\\^[^\\s[\\]\\\\]{1,${MAX_LABEL_CHARS}}\\]`
const REFERENCE = new RegExp(`^${FOOTNOTE_LABEL}`)
const OPENER = new RegExp(`^ {0,3}(${FOOTNOTE_LABEL}):[ \\t]*`)
/** Matches a line that begins another block, which ends the text of a footnote. */
const OTHER_BLOCK =
  /^ {0,3}(?:\[\^[^\s\]]+\]:|#{1,6}(?:\s|$)|>|[*+-][ \t]|\d{1,9}[.)][ \t]|(?:\*[ \t]*){3}|(?:-[ \t]*){3}|(?:_[ \t]*){3}|\|)/
const INDENT = /^(?: {4}|\t)/

/** Returns the reference `[^label]` at the start of some text, or null. */
export function matchFootnoteReference(text: string): string | null {
  return text.startsWith("[^") ? (REFERENCE.exec(text)?.[0] ?? null) : null
}

export interface FootnoteSource {
  readonly raw: string
  readonly label: string
  /** The footnote's text, without the indentation of continuation lines. */
  readonly body: string
}

/**
 * Returns the footnote at the start of some text, or null. A footnote contains the lines of its paragraph and, after a
 * blank line, lines that are indented by four columns. Cost: linear in the length of the footnote.
 */
export function readFootnote(text: string): FootnoteSource | null {
  const [opener, label] = OPENER.exec(text) ?? []
  if (opener === undefined || label === undefined) return null
  const lines: string[] = []
  let at = opener.length
  let end = at
  let isAfterBlank = false
  while (at < text.length) {
    const newline = text.indexOf("\n", at)
    const next = newline < 0 ? text.length : newline + 1
    const line = text.slice(at, newline < 0 ? next : newline)
    const isBlank = line.trim() === ""
    const isFirst = at === opener.length
    if (!isFirst && !isBlank && !INDENT.test(line) && (isAfterBlank || OTHER_BLOCK.test(line))) break
    lines.push(isFirst ? line : line.replace(INDENT, ""))
    isAfterBlank = isBlank
    at = next
    if (!isBlank || isFirst) end = at
  }
  return { raw: text.slice(0, end), label: toFootnoteKey(label.slice(2, -1)), body: lines.join("\n").trimEnd() }
}

/** Normalises a label: labels are compared without case. */
export function toFootnoteKey(label: string): string {
  return label.toLowerCase()
}
