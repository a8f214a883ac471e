/**
 * json-view.tsx: JSON, indented and with syntax colours.
 *
 * The text is the same with colours and without; colours only add spans.
 */

import type { ComponentChildren, VNode } from "preact"
import { parseJson } from "../../shared/json.ts"

/** Longer texts aren't coloured, because they would need thousands of elements. In UTF-16 code units. */
const MAX_COLOURED_CHARS = 20_000

interface JsonViewProps {
  readonly title: string
  /** Shown unchanged if it isn't JSON. */
  readonly text: string
  readonly isColoured: boolean
}

export function JsonView({ title, text, isColoured }: JsonViewProps): VNode {
  const value = parseJson(text)
  const printed = value === undefined ? text : JSON.stringify(value, null, 2)
  const isHighlighted = isColoured && value !== undefined && printed.length <= MAX_COLOURED_CHARS
  return (
    <figure class="data">
      <figcaption>{title}</figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide block must scroll with the keyboard. */}
      <pre tabIndex={0}>
        <code>{isHighlighted ? highlightJson(printed) : printed}</code>
      </pre>
    </figure>
  )
}

const JSON_TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*|\b(?:true|false|null)\b/g

function highlightJson(json: string): ComponentChildren[] {
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
