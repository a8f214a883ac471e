/**
 * consent-gate.tsx: the placeholder for remote media that the user hasn't loaded, and for media that failed to load.
 *
 * The placeholder shows the kind of media, and the host that a click would contact. SPEC PG40, MD6.
 */

import type { VNode } from "preact"
import { getActiveElement } from "../ui/kept-focus/page-elements.ts"
import { parseHost } from "../words/format/link-policy.ts"
import { mediaText } from "../words/parts/media-text.ts"
import { MediaIcon, type MediaIconName } from "./media-icons.tsx"
import type { MediaSourceHandle } from "./use-media-source.ts"

interface ConsentGateProps {
  readonly source: MediaSourceHandle
  readonly url: string
  readonly icon: MediaIconName
  /** The kind of media, for example "Image". */
  readonly kind: string
  readonly label: string
  /** Whether the placeholder is part of a line of text. */
  readonly isInline?: boolean
}

/** The placeholder. `source` must be `closed`, `asking` or `failed`. */
export function ConsentGate({ source, url, icon, kind, label, isInline = false }: ConsentGateProps): VNode {
  const { state } = source
  const host = parseHost(url)
  const fault = state.at === "failed" ? state.text : null
  const about = mediaText.fromHost(kind, host)
  return (
    <span class="gate" data-inline={isInline ? "" : undefined} data-state={state.at}>
      <MediaIcon name={icon} />
      <span class="what">
        <b dir="auto">{label === "" ? kind : label}</b> <small>{fault ?? about}</small>
      </span>
      {state.at !== "asking" && (
        <LoadButton source={source} about={mediaText.named(about, label)} isRetry={fault !== null} />
      )}
      {fault !== null && host !== "" && (
        <a href={url} target="_blank" rel="noopener noreferrer">
          {mediaText.openInNewTab}
        </a>
      )}
    </span>
  )
}

interface LoadButtonProps {
  readonly source: MediaSourceHandle
  readonly about: string
  readonly isRetry: boolean
}

function LoadButton({ source, about, isRetry }: LoadButtonProps): VNode {
  const text = isRetry ? mediaText.tryAgain : mediaText.load
  return (
    <button
      type="button"
      aria-label={mediaText.named(text, about)}
      onClick={(event) => {
        // The placeholder may be inside a link, which must not be followed.
        event.preventDefault()
        event.stopPropagation()
        moveFocusInto(event.currentTarget.closest(".gate")?.parentElement)
        source.requestLoad()
      }}
    >
      {text}
    </button>
  )
}

/** Time allowed for the replacement to render, in milliseconds. */
const RENDER_DELAY_MS = 50

/** Moves the keyboard focus to whatever replaces a button that disappears when pressed. */
export function moveFocusInto(container: Element | null | undefined): void {
  setTimeout(() => {
    if (getActiveElement() !== null) return
    container?.querySelector<HTMLElement>(".frame, .play, video, .gate button")?.focus({ preventScroll: true })
  }, RENDER_DELAY_MS)
}
