/** rank-items.ts: selects and orders the palette entries that match a query. Pure. Source: SPEC LB4. */

/** Returns the text in lower case, without accents and vowel points. */
export function foldText(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase()
}

/**
 * Returns the rank of `text` (smaller is better); null if the text doesn't match. Both strings must be folded, and
 * `query` must not be empty.
 */
function rankText(query: string, text: string): number | null {
  if (text.startsWith(query)) return 0
  const words = text.split(/[^\p{L}\p{N}]+/u)
  if (words.some((word) => word.startsWith(query))) return 1
  if (query.split(/\s+/).every((part) => words.some((word) => word.startsWith(part)))) return 2
  return text.includes(query) ? 3 : null
}

/**
 * Returns the items that match, best first; items of the same rank keep their order. All items match an empty query.
 * Cost: linear in the length of the texts.
 */
export function rankItems<T>(query: string, items: readonly T[], getText: (item: T) => string): readonly T[] {
  const folded = foldText(query).trim()
  if (folded === "") return items
  return items
    .flatMap((item) => {
      const rank = rankText(folded, foldText(getText(item)))
      return rank === null ? [] : [{ item, rank }]
    })
    .sort((one, other) => one.rank - other.rank)
    .map(({ item }) => item)
}
