/**
 * consent-gate.tsx: what stands where media would be: before its reader wants it, and when it cannot be had.
 *
 * It says what it is and whom it would ask. Source: SPEC PG40, MD6.
 */

import type { VNode } from "preact"
import { parseHost } from "../words/link-policy.ts"
import { MediaIcon, type MediaIconName } from "./media-icons.tsx"
import type { MediaSourceHandle } from "./use-media-source.ts"

interface ConsentGateProps {
  readonly source: MediaSourceHandle
  readonly url: string
  readonly icon: MediaIconName
  /** "Picture" */
  readonly kind: string
  readonly label: string
  /** It stands within a line of words. */
  readonly isInline?: boolean
}

/** For a source that is `closed`, `asking` or `failed`. */
export function ConsentGate({ source, url, icon, kind, label, isInline = false }: ConsentGateProps): VNode {
  const { state } = source
  const host = parseHost(url)
  const fault = state.at === "failed" ? state.text : null
  const about = host === "" ? kind : `${kind} from ${host}`
  return (
    <span class="gate" data-inline={isInline ? "" : undefined} data-state={state.at}>
      <MediaIcon name={icon} />
      <span class="what">
        <b>{label === "" ? kind : label}</b> <small>{fault ?? about}</small>
      </span>
      {state.at !== "asking" && <LoadButton source={source} about={`${about}: ${label}`} isRetry={fault !== null} />}
      {fault !== null && host !== "" && (
        <a href={url} target="_blank" rel="noopener noreferrer">
          Open it
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

function LoadButton({ source, about, isRetry: isAgain }: LoadButtonProps): VNode {
  const words = isAgain ? "Try again" : "Load"
  return (
    <button
      type="button"
      aria-label={`${words}: ${about}`}
      onClick={(event) => {
        // It may stand in a link.
        event.preventDefault()
        event.stopPropagation()
        moveFocusInto(event.currentTarget.closest(".gate")?.parentElement)
        source.requestLoad()
      }}
    >
      {words}
    </button>
  )
}

/** What comes in its place is drawn by then, in milliseconds. */
const RENDER_DELAY_MS = 50

/** The button goes, so the keyboard goes on with what stands in its place. */
export function moveFocusInto(container: Element | null | undefined): void {
  setTimeout(() => {
    if (document.activeElement !== document.body) return
    container?.querySelector<HTMLElement>(".frame, .play, video, .gate button")?.focus({ preventScroll: true })
  }, RENDER_DELAY_MS)
}
