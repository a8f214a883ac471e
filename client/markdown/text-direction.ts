/**
 * text-direction.ts: the direction of a list, quote or table, determined by its first letter as with `dir="auto"`.
 *
 * `dir="auto"` itself is only for elements that contain text directly. Browsers skip children that have their own
 * `dir`, and rescan all children each time one is added. Pure. SPEC MD10.
 */

import type { ProseToken, TableCell } from "./markdown-lexer.ts"

/** Matches a letter of a right-to-left script (Hebrew, Arabic, Syriac, Thaana, N'Ko, …), or any other letter. */
const FIRST_LETTER = /([\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}])|\p{L}/u

export type Direction = "ltr" | "rtl"

/**
 * Returns the direction of the first letter, ignoring code and formulas. Returns undefined if there is no letter, so
 * that the element inherits its direction.
 */
export function findDirection(tokens: readonly ProseToken[] = []): Direction | undefined {
  return searchTokens(tokens) ?? undefined
}

/**
 * Returns the direction of an element that contains text directly. Without a letter, it has the direction of the
 * surrounding block.
 */
export function findAutoDirection(tokens: readonly ProseToken[] = []): "auto" | undefined {
  return searchTokens(tokens) === null ? undefined : "auto"
}

function searchTokens(tokens: readonly ProseToken[] = []): Direction | null {
  for (const token of tokens) {
    const found = searchToken(token)
    if (found !== null) return found
  }
  return null
}

/** Code and formulas are always written from left to right. */
const WITHOUT_DIRECTION: ReadonlySet<string> = new Set(["codespan", "html", "checkbox", "math", "footnote_ref"])

function searchToken(token: ProseToken): Direction | null {
  if (WITHOUT_DIRECTION.has(token.type)) return null
  if (token.header !== undefined) return searchRows([token.header, ...(token.rows ?? [])])
  const children = token.items ?? token.tokens
  if (children !== undefined) return searchTokens(children)
  const match = FIRST_LETTER.exec(token.text ?? token.raw)
  return match === null ? null : match[1] === undefined ? "ltr" : "rtl"
}

function searchRows(rows: readonly (readonly TableCell[])[]): Direction | null {
  for (const row of rows) {
    for (const cell of row) {
      const found = searchTokens(cell.tokens)
      if (found !== null) return found
    }
  }
  return null
}
