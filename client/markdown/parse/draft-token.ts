/** draft-token.ts: a token that is still being built. */

import type { ProseToken, TableCell } from "../markdown-lexer.ts"

type Fields = Omit<ProseToken, "tokens" | "items" | "rows">

export type DraftToken = { -readonly [K in keyof Fields]: Fields[K] } & {
  tokens?: DraftToken[]
  items?: DraftToken[]
  rows?: TableCell[][]
}

/** The targets of references, by normalised label. */
export type LinkTargets = Record<string, { readonly href: string }>

/**
 * Normalises a label. Labels are compared without case, and each run of whitespace counts as one space. Because the
 * label is first converted to lower case, both `ẞ` and `ß` become `SS`.
 */
export function normalizeLabel(label: string): string {
  return label.trim().replace(/\s+/g, " ").toLowerCase().toUpperCase()
}

/** Removes backslashes before ASCII punctuation. */
export function unescapeMarkup(text: string): string {
  return text.replace(/\\([!-/:-@[-`{-~])/g, "$1")
}
