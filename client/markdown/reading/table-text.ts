/**
 * table-text.ts: the cells of a table as CSV, and as tab-separated values for a spreadsheet. Pure. SPEC MD14.
 *
 * A spreadsheet program evaluates a cell that begins like a formula, and the table may contain untrusted text. Such a
 * cell gets an apostrophe, which marks it as text. Numbers aren't changed.
 */

import type { ProseToken } from "../markdown-lexer.ts"
import { tokensToText } from "../syntax/token-text.ts"

/**
 * Matches the start of a formula, including full-width forms, which some spreadsheet programs read like the ASCII
 * characters.
 */
const FORMULA_START = /^[=+\-@＝＋－＠\t\r]/
/** Matches signed numbers: `-3`, `+1.5`, `-1,234.50 %`, `-€3`. */
const SIGNED_NUMBER = /^[+-]\s?\p{Sc}?[\d.,\u00a0\u202f ]*\d\s?[%‰\p{Sc}]?$/u

/** Returns the header and the rows, as plain text. */
export function readTableCells(table: ProseToken): readonly (readonly string[])[] {
  const rows = [table.header ?? [], ...(table.rows ?? [])]
  return rows.map((row) => row.map((cell) => protectFormula(tokensToText(cell.tokens).replace(/\s+/g, " ").trim())))
}

function protectFormula(text: string): string {
  return FORMULA_START.test(text) && !SIGNED_NUMBER.test(text) ? `'${text}` : text
}

/** Returns CSV (RFC 4180): lines end with CR LF, and a cell with a comma, a quote or a line break is quoted. */
export function cellsToCsv(cells: readonly (readonly string[])[]): string {
  return cells.map((row) => `${row.map(quoteCell).join(",")}\r\n`).join("")
}

function quoteCell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/**
 * Returns tab-separated values, as spreadsheets exchange them through the clipboard. Cells contain no tabs and no line
 * breaks. A cell with a quote is quoted, because a spreadsheet program would remove the quotes around `"=1"` and
 * evaluate the rest.
 */
export function cellsToTabSeparated(cells: readonly (readonly string[])[]): string {
  return cells.map((row) => row.map((text) => (text.includes('"') ? quoteCell(text) : text)).join("\t")).join("\n")
}
