/** json-colors.tsx: the syntax colours of a tool call's JSON. */

import type { ComponentChildren } from "preact"

/**
 * The closing quote is optional, because long text may be cut within a string. If it were required, each quote would
 * cause a search to the end.
 */
const JSON_TOKEN = /("(?:[^"\\]|\\.)*"?)(\s*:)?|-?\d[\d.eE+-]*|\b(?:true|false|null)\b/g

/** Wraps keys, strings, numbers and literals in spans. The text itself isn't changed. */
export function highlightJson(json: string): ComponentChildren[] {
  const nodes: ComponentChildren[] = []
  let from = 0
  for (const match of json.matchAll(JSON_TOKEN)) {
    const [token, string, colon] = match
    if (match.index > from) nodes.push(json.slice(from, match.index))
    const kind = colon !== undefined ? "key" : string !== undefined ? "string" : /[tfn]/.test(token) ? "word" : "number"
    nodes.push(<span class={kind}>{string ?? token}</span>)
    if (colon !== undefined) nodes.push(colon)
    from = match.index + token.length
  }
  nodes.push(json.slice(from))
  return nodes
}
