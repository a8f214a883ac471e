/**
 * json-view.tsx: JSON as a reader likes it: indented, and coloured by what each word is.
 *
 * The text is the same coloured or not; only spans are added.
 */

import type { ComponentChildren, VNode } from "preact"
import { parseJson } from "../../shared/json.ts"

/** Longest text that is coloured, in UTF-16 code units: some thousand elements. Longer is one text. */
const MAX_COLOURED_CHARS = 20_000

interface JsonViewProps {
  readonly title: string
  readonly text: string
  readonly isColoured: boolean
}

export function JsonView({ title, text, isColoured: coloured }: JsonViewProps): VNode {
  const value = parseJson(text)
  const printed = value === undefined ? text : JSON.stringify(value, null, 2)
  const isHighlighted = coloured && value !== undefined && printed.length <= MAX_COLOURED_CHARS
  return (
    <figure class="data">
      <figcaption>{title}</figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide block is scrolled with the keyboard too. */}
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
    const [word, text, colon] = match
    if (match.index > from) nodes.push(json.slice(from, match.index))
    const kind = colon !== undefined ? "key" : text !== undefined ? "string" : /[tfn]/.test(word) ? "word" : "number"
    nodes.push(<span class={kind}>{text ?? word}</span>)
    if (colon !== undefined) nodes.push(colon)
    from = match.index + word.length
  }
  nodes.push(json.slice(from))
  return nodes
}
