/** block-syntax.ts: recognises single lines of Markdown blocks, and splits the rows of tables. Pure. */

import type { TableCell } from "../markdown-lexer.ts"
import { normalizeLabel, unescapeMarkup } from "./draft-token.ts"

/** These patterns match lines whose indentation has been removed. */
export const HEADING = /^(#{1,6})(?:[ \t]|$)/
export const UNDERLINE = /^(?:=+|-+)[ \t]*$/
export const THEMATIC_BREAK = /^(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/
/** Group 1 is the number of an ordered item, and the last character is the delimiter. */
export const LIST_MARKER = /^(?:[*+-]|(\d{1,9})[.)])(?=[ \t]|$)/
/** Matches a line, with its indentation removed, that would begin another block if no paragraph were open. */
export const OTHER_START = /^(?:(?:[*+-]|\d{1,9}[.)])(?:[ \t]|$)|\[|\$\$|\\\[)/
export const TASK = /^\[([ xX])\][ \t]+(?=\S)/
const TABLE_RULE = /^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/
const DEFINITION =
  /^\[(?!\^)((?:[^[\]\\]|\\.){1,200})\]:[ \t]*(<[^<>]*>|[^\s<]\S*)(?:[ \t]+(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)))?[ \t]*$/

/** A row with fewer cells than its table's header is padded with empty cells, up to this column. */
const MAX_PADDED_COLUMNS = 64

/** Returns the text of a heading without the `#` characters at both ends of its line. */
export function readHeadingText(line: string, level: number): string {
  const text = line.slice(level).trim()
  let end = text.length
  while (text[end - 1] === "#") end--
  return end === 0 || " \t".includes(text[end - 1] ?? "") ? text.slice(0, end).trimEnd() : text
}

export interface Definition {
  readonly tag: string
  readonly href: string
}

/**
 * Reads `[label]: target "title"` on one line. Titles that span several lines aren't supported, because they could
 * change blocks that are already finished.
 */
export function readDefinition(line: string): Definition | null {
  const [, label = "", target] = DEFINITION.exec(line) ?? []
  if (target === undefined || label.trim() === "") return null
  return { tag: normalizeLabel(label), href: unescapeMarkup(target[0] === "<" ? target.slice(1, -1) : target) }
}

/** Returns the alignments of a table's columns; null unless this line is the delimiter row below the header. */
export function readTableRule(line: string, header: string): readonly TableCell["align"][] | null {
  if (!TABLE_RULE.test(line) || !/[|:]/.test(line)) return null
  const cells = splitRow(line)
  if (cells.length !== splitRow(header).length) return null
  return cells.map((cell) => {
    const isRight = cell.endsWith(":")
    return cell[0] === ":" ? (isRight ? "center" : "left") : isRight ? "right" : null
  })
}

/** Returns the text of each cell in a row. */
export function splitRow(line: string): readonly string[] {
  const row = line.trim()
  const cells: string[] = []
  let from = row[0] === "|" ? 1 : 0
  for (let at = from; at < row.length; at++) {
    if (row[at] === "\\") at++
    else if (row[at] === "|") {
      cells.push(row.slice(from, at))
      from = at + 1
    }
  }
  if (from < row.length) cells.push(row.slice(from))
  return cells.map((cell) => cell.trim().replaceAll("\\|", "|"))
}

/**
 * Returns the text of each cell in a row below the header: exactly one cell for each column, up to MAX_PADDED_COLUMNS.
 */
export function splitBodyRow(line: string, columns: number): readonly string[] {
  const cells = splitRow(line).slice(0, columns)
  while (cells.length < Math.min(columns, MAX_PADDED_COLUMNS)) cells.push("")
  return cells
}
