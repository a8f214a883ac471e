/**
 * math-syntax.ts: recognises formulas in Markdown text: `\\(x\\)`, `\\[x\\]` and `$$x$$`. Pure. SPEC MD9.
 */

/** Maximum length of a formula, in UTF-16 code units. Anything longer is not a formula. */
export const MAX_MATH_CHARS = 2_000

const MATH_OPENER = /^(?:\\\(|\\\[|\$\$)/
const MATH_CLOSERS: Readonly<Record<string, string>> = { "\\(": "\\)", "\\[": "\\]", $$: "$$" }
/** Matches the start of a formula that begins a line and may contain lines that look like other blocks. */
const MATH_BLOCK_INDENT = /^ {0,3}(?=\\\[|\$\$)/

/**
 * Returns the source of the formula at the start of some text, or null. As Markdown, the formula would lose its
 * backslashes, and its operators would become markup. A formula contains no blank line. Bounded by MAX_MATH_CHARS.
 */
export function matchMath(text: string): string | null {
  const opener = MATH_OPENER.exec(text)?.[0]
  if (opener === undefined) return null
  const near = text.slice(opener.length, MAX_MATH_CHARS)
  const closer = MATH_CLOSERS[opener] ?? ""
  const end = near.indexOf(closer)
  const content = near.slice(0, Math.max(end, 0))
  if (content.trim() === "" || /\n[ \t]*\n/.test(content)) return null
  return text.slice(0, opener.length + end + closer.length)
}

/**
 * Returns a formula of several lines at the start of the text, with its indentation. Null if there is none, or if more
 * than a punctuation mark follows on its last line.
 */
export function matchMathBlock(text: string): string | null {
  const indent = MATH_BLOCK_INDENT.exec(text)?.[0]
  if (indent === undefined) return null
  const math = matchMath(text.slice(indent.length, indent.length + MAX_MATH_CHARS))
  if (math === null || !math.includes("\n")) return null
  const raw = indent + math
  return /^[ \t]*[.,;]?[ \t]*(?:\n+|$)/.test(text.slice(raw.length, raw.length + 64)) ? raw : null
}

export interface MathSource {
  readonly tex: string
  /** Whether the formula is shown on a line of its own. */
  readonly isDisplay: boolean
}

/**
 * Returns the TeX between the delimiters of a formula. The server escapes `<` so that Markdown displays it (SPEC CL1);
 * in a formula, it becomes an operator again.
 */
export function readMathSource(raw: string): MathSource {
  const source = raw.trim()
  return { tex: source.slice(2, -2).replaceAll("&lt;", "<").trim(), isDisplay: !source.startsWith("\\(") }
}
