/** token-text.ts: the text of Markdown tokens, without markup. Pure. */

import { decodeVisibleText } from "../html-entities.ts"
import type { ProseToken } from "../markdown-lexer.ts"

const SILENT_TYPES: ReadonlySet<string> = new Set(["html", "def", "space", "footnote_ref"])

export function tokenToText(token: ProseToken): string {
  if (SILENT_TYPES.has(token.type)) return " "
  if (token.items !== undefined) return tokensToText(token.items, " ")
  if (token.header !== undefined) {
    const rows = [token.header, ...(token.rows ?? [])]
    return rows.map((row) => row.map((cell) => tokensToText(cell.tokens)).join(", ")).join(". ")
  }
  if (token.tokens !== undefined) return tokensToText(token.tokens)
  return token.type === "text" ? decodeVisibleText(token.text ?? "") : (token.text ?? " ")
}

export function tokensToText(tokens: readonly ProseToken[], separator = ""): string {
  return tokens.map(tokenToText).join(separator)
}
