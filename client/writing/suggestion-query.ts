/**
 * suggestion-query.ts: finds the query that the user is typing: `/` at the start of a message looks up a saved prompt,
 * `@` at the start of a word an agent. Pure. Source: SPEC WR21, WR31.
 */

export interface SuggestionQuery {
  readonly kind: "prompt" | "agent"
  /** The text after the sign. */
  readonly text: string
  /** The range that a choice replaces, in UTF-16 code units. */
  readonly from: number
  readonly to: number
}

/** Maximum length of a query, in UTF-16 code units. Longer text after the sign is not a query. */
const MAX_QUERY_CHARS = 40

/** Returns the query that ends at the caret; null if there is none. */
export function findSuggestionQuery(text: string, caret: number): SuggestionQuery | null {
  const before = text.slice(0, caret)
  const prompt = /^\/([^\n/]*)$/.exec(before)?.[1]
  if (prompt !== undefined) {
    return prompt.length > MAX_QUERY_CHARS ? null : { kind: "prompt", text: prompt, from: 0, to: caret }
  }
  const agent = /(?:^|[\s(])@([\p{L}\p{N}_-]*)$/u.exec(before)?.[1]
  if (agent === undefined || agent.length > MAX_QUERY_CHARS) return null
  return { kind: "agent", text: agent, from: caret - agent.length - 1, to: caret }
}

/**
 * Returns the entries whose name contains a word that begins with the text. Entries whose name itself begins with the
 * text come first.
 */
export function filterByName<T extends { readonly name: string }>(entries: readonly T[], text: string): readonly T[] {
  const wanted = normalize(text.trim())
  const matching = entries.filter(({ name }) =>
    normalize(name)
      .split(/[\s_-]+/)
      .concat(normalize(name))
      .some((word) => word.startsWith(wanted)),
  )
  const isFirst = ({ name }: T): boolean => normalize(name).startsWith(wanted)
  return [...matching.filter(isFirst), ...matching.filter((entry) => !isFirst(entry))]
}

function normalize(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase()
}
