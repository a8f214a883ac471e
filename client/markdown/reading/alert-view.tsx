/** alert-view.tsx: recognises an alert (`> [!NOTE]`), and renders it with its icon and name. SPEC MD18. */

import type { ComponentChildren, VNode } from "preact"
import { readingText } from "../../words/parts/reading-text.ts"
import type { ProseToken } from "../markdown-lexer.ts"
import { findDirection } from "../text-direction.ts"

type AlertKind = keyof typeof readingText.alerts

interface Alert {
  readonly kind: AlertKind
  /** The quoted blocks without the line that makes them an alert. */
  readonly tokens: readonly ProseToken[]
}

const MARKER = /^\[!(note|tip|important|warning|caution)\][ \t]*(?:\n|$)/i

/** Returns the alert that a quote represents, or null. The marker is on a line of its own at the beginning. */
export function readAlert(quote: ProseToken): Alert | null {
  const [paragraph, ...blocks] = quote.tokens ?? []
  const [first, ...inline] = paragraph?.tokens ?? []
  const text = first?.type === "text" ? (first.text ?? "") : ""
  const [marker, name] = MARKER.exec(text) ?? []
  if (paragraph?.type !== "paragraph" || first === undefined || marker === undefined || name === undefined) return null
  // Text that follows the marker on its line is not part of this token.
  if (marker === text && !text.endsWith("\n") && inline.length > 0) return null
  const kind = name.toLowerCase() as AlertKind
  const rest = { ...first, raw: text.slice(marker.length), text: text.slice(marker.length) }
  if (rest.text === "" && inline.length === 0) return { kind, tokens: blocks }
  return { kind, tokens: [{ ...paragraph, tokens: [rest, ...inline] }, ...blocks] }
}

const ICON_PATHS: Readonly<Record<AlertKind, string>> = {
  note: "M10 2.5a7.5 7.5 0 100 15 7.5 7.5 0 000-15zM10 9v5M10 6v.5",
  tip: "M7.5 14.5h5M8.5 17.5h3M7.5 14.5c0-2-2.5-3-2.5-6a5 5 0 0110 0c0 3-2.5 4-2.5 6",
  important: "M3 3.5h14v10h-7l-4 3.5v-3.5H3zM10 6v3M10 11v.5",
  warning: "M10 3l7.5 13.5h-15zM10 8v4M10 14v.5",
  caution: "M6.5 2.5h7l4 4v7l-4 4h-7l-4-4v-7zM10 6v5M10 13.5v.5",
}

interface AlertViewProps {
  readonly alert: Alert
  readonly renderBlocks: (tokens: readonly ProseToken[]) => ComponentChildren
}

export function AlertView({ alert: { kind, tokens }, renderBlocks }: AlertViewProps): VNode {
  return (
    <div class="alert" data-alert={kind} dir={findDirection(tokens)}>
      <p class="alert-title">
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path d={ICON_PATHS[kind]} />
        </svg>
        {readingText.alerts[kind]}
      </p>
      {renderBlocks(tokens)}
    </div>
  )
}
