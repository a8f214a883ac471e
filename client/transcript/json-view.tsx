/**
 * json-view.tsx: JSON, indented and with syntax colours.
 *
 * The text is the same with and without colours, which only add spans. A long text begins with its first lines and a
 * button for the rest, because a tool decides how long it is. SPEC BD4.
 */

import type { ComponentChildren, VNode } from "preact"
import { useState } from "preact/hooks"
import { parseJsonToDepth, printJson } from "../../shared/json-depth.ts"
import { cutText } from "../../shared/text/cut-text.ts"
import { toolText, transcriptText } from "../words/transcript-text.ts"

/** The length of the part that is drawn at first, in UTF-16 code units: a few screens. Longer texts aren't coloured. */
const MAX_DRAWN_CHARS = 20_000

interface JsonViewProps {
  readonly title: string
  /** Shown unchanged if it isn't JSON. */
  readonly text: string
  readonly isColoured: boolean
  /** Draws all of the text, because the user must see what they allow. */
  readonly isWhole?: boolean
}

export function JsonView({ title, text, isColoured, isWhole = false }: JsonViewProps): VNode {
  const [isExpanded, setExpanded] = useState(isWhole)
  const value = parseJsonToDepth(text)
  const printed = value === undefined ? text : printJson(value)
  const drawn = isWhole || isExpanded ? printed : cutAtLine(printed)
  const isHighlighted = isColoured && value !== undefined && drawn.length <= MAX_DRAWN_CHARS
  return (
    <figure class="data">
      <figcaption>{title}</figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide block must scroll with the keyboard. */}
      <pre tabIndex={0}>
        <code>{isHighlighted ? highlightJson(drawn) : drawn}</code>
      </pre>
      {drawn !== printed && (
        <>
          <button type="button" class="show-all" onClick={() => setExpanded(true)}>
            {toolText.showAll(printed.length - drawn.length)}
          </button>
          <p class="printed">{transcriptText.notPrinted}</p>
        </>
      )}
    </figure>
  )
}

/** The text up to MAX_DRAWN_CHARS, to the end of a line if it has lines. */
function cutAtLine(text: string): string {
  if (text.length <= MAX_DRAWN_CHARS) return text
  const lineEnd = text.lastIndexOf("\n", MAX_DRAWN_CHARS)
  return lineEnd > 0 ? text.slice(0, lineEnd) : cutText(text, MAX_DRAWN_CHARS)
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
