/**
 * json-view.tsx: JSON, indented and with syntax colours.
 *
 * Colours only add spans, so the text is the same with and without them. If the text is long, only the first lines are
 * shown, with a button for the rest, because a tool can return text of any length. SPEC BD4.
 */

import type { VNode } from "preact"
import { useEffect, useState } from "preact/hooks"
import { parseJsonToDepth, printJson } from "../../shared/json-depth.ts"
import { cutText } from "../../shared/text/cut-text.ts"
import { deferModule } from "../ui/deferred-module.ts"
import { toolText } from "../words/parts/call-text.ts"
import { transcriptText } from "../words/transcript-text.ts"

/** Loaded when a tool call is opened. Until then, and if that fails, JSON has no colours. */
export const jsonColors = deferModule(() => import("../markdown/blocks/json-colors.tsx"))

/**
 * Maximum length of text that is initially rendered, in UTF-16 code units: a few screens. Longer text isn't coloured.
 */
const MAX_DRAWN_CHARS = 20_000

interface JsonViewProps {
  readonly title: string
  /** The text, which is shown unchanged if it isn't JSON. */
  readonly text: string
  readonly isColoured: boolean
  /** Whether all of the text is rendered at once, because users must see what they allow. */
  readonly isWhole?: boolean
}

export function JsonView({ title, text, isColoured, isWhole = false }: JsonViewProps): VNode {
  const [isExpanded, setExpanded] = useState(isWhole)
  const value = parseJsonToDepth(text)
  const printed = value === undefined ? text : printJson(value)
  const drawn = isWhole || isExpanded ? printed : cutAtLine(printed)
  const isHighlighted = isColoured && value !== undefined && drawn.length <= MAX_DRAWN_CHARS
  useEffect(() => {
    if (isHighlighted) void jsonColors.load()
  }, [isHighlighted])
  const highlightJson = isHighlighted ? jsonColors.module.value?.highlightJson : undefined
  return (
    <figure class="data">
      <figcaption>{title}</figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide block must be scrollable with the keyboard. */}
      <pre tabIndex={0}>
        <code>{highlightJson?.(drawn) ?? drawn}</code>
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

/** Cuts the text to MAX_DRAWN_CHARS, at the end of a line if possible. */
function cutAtLine(text: string): string {
  if (text.length <= MAX_DRAWN_CHARS) return text
  const lineEnd = text.lastIndexOf("\n", MAX_DRAWN_CHARS)
  return lineEnd > 0 ? text.slice(0, lineEnd) : cutText(text, MAX_DRAWN_CHARS)
}
