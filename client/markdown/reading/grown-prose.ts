/**
 * grown-prose.ts: parses prose that has grown at its end, without parsing the finished rows and items of its last table
 * or list again.
 *
 * Rows and items that can no longer change keep their identity. The result is the same as that of `lexProse`. Pure.
 * SPEC MD3, MD16.
 */

import { type LinkDefinitions, lexProse, type ProseToken } from "../markdown-lexer.ts"

/**
 * The number of rows or items at the end that are parsed again: the last one, which grows, and the one before it, which
 * the last one may continue.
 */
const OPEN_PARTS = 2
/** Minimum number of rows or items. A shorter table or list is parsed as a whole. */
const MIN_FINISHED_PARTS = 4

/**
 * Parses the end of grown prose. `known`: the tokens of the text that the new text begins with. Returns null if the
 * whole text must be parsed.
 */
export function lexGrownProse(
  text: string,
  known: readonly ProseToken[],
  definitions: LinkDefinitions,
): readonly ProseToken[] | null {
  const at = known.findLastIndex((token) => token.type !== "space")
  const last = known[at]
  if (last?.type !== "table" && last?.type !== "list") return null
  const finished = known.slice(0, at)
  const rest = text.slice(finished.reduce((sum, token) => sum + token.raw.length, 0))
  const tokens = last.type === "table" ? lexOpenTable(last, rest, definitions) : lexOpenList(last, rest, definitions)
  return tokens === null ? null : [...finished, ...tokens]
}

/**
 * Parses the end of a table. Each row is one line, and a line that is followed by another line can no longer change.
 */
function lexOpenTable(table: ProseToken, text: string, definitions: LinkDefinitions): readonly ProseToken[] | null {
  const rows = table.rows?.slice(0, -OPEN_PARTS) ?? []
  if (rows.length < MIN_FINISHED_PARTS) return null
  const head = findLineStart(text, 0, 2)
  const cut = findLineStart(text, head, rows.length)
  const [first, ...others] = lexProse(text.slice(0, head) + text.slice(cut), definitions)
  if (first?.type !== "table" || first.rows === undefined) return null
  const raw = text.slice(0, cut) + first.raw.slice(head)
  return [{ ...first, raw, header: table.header ?? [], rows: [...rows, ...first.rows] }, ...others]
}

/** Returns the start of the line that is `lines` lines after the one that starts at `from`. */
function findLineStart(text: string, from: number, lines: number): number {
  let at = from
  for (let line = 0; line < lines; line++) at = text.indexOf("\n", at) + 1
  return at
}

/**
 * Parses the end of a list. An item that is followed by another one no longer changes, except that a blank line between
 * any two items makes all items paragraphs.
 */
function lexOpenList(list: ProseToken, text: string, definitions: LinkDefinitions): readonly ProseToken[] | null {
  const items = list.items?.slice(0, -OPEN_PARTS) ?? []
  if (items.length < MIN_FINISHED_PARTS) return null
  const cut = items.reduce((sum, item) => sum + item.raw.length, 0)
  const [first, ...others] = lexProse(text.slice(cut), definitions)
  if (first?.type !== "list" || first.ordered !== list.ordered || first.items === undefined) return null
  const loose = first.loose === true || items.some(hasBlankLine)
  if (loose !== list.loose) return null
  const newItems = first.loose === loose ? first.items : loosenItems(first.items)
  if (newItems === null) return null
  const raw = text.slice(0, cut) + first.raw
  return [{ ...first, raw, start: list.start ?? "", loose, items: [...items, ...newItems] }, ...others]
}

const itemsWithBlankLine = new WeakMap<ProseToken, boolean>()

/**
 * Returns whether an item that is followed by another one contains a blank line between its blocks or ends with one.
 */
function hasBlankLine(item: ProseToken): boolean {
  const known = itemsWithBlankLine.get(item)
  if (known !== undefined) return known
  const isFound =
    /\n[ \t]*\n[ \t]*$/.test(item.raw) ||
    (item.tokens ?? []).some((token) => token.type === "space" && /\n.*\n/.test(token.raw))
  itemsWithBlankLine.set(item, isFound)
  return isFound
}

/**
 * Returns the items as the parser returns them for a list with blank lines; null if an item is a task, because its
 * checkbox would have to move.
 */
function loosenItems(items: readonly ProseToken[]): readonly ProseToken[] | null {
  if (items.some((item) => item.task === true)) return null
  return items.map((item) => {
    const tokens = item.tokens?.map((token) => (token.type === "text" ? { ...token, type: "paragraph" } : token)) ?? []
    return { ...item, loose: true, tokens }
  })
}
