/**
 * consent-gate.tsx: what stands where media would be: before its reader wants it, and when it cannot be had.
 *
 * It says what it is and whom it would ask. Source: SPEC PG40, MD6.
 */

import type { VNode } from "preact"
import { hostOf } from "../words/link-policy.ts"
import { Icon, type IconName } from "./media-icons.tsx"
import type { Source } from "./use-media-source.ts"

interface GateProps {
  readonly source: Source
  readonly url: string
  readonly icon: IconName
  /** "Picture" */
  readonly kind: string
  readonly label: string
  /** It stands within a line of words. */
  readonly isInline?: boolean
}

/** For a source that is `closed`, `asking` or `failed`. */
export function Gate({ source, url, icon, kind, label, isInline = false }: GateProps): VNode {
  const { state } = source
  const host = hostOf(url)
  const fault = state.at === "failed" ? state.text : null
  const about = host === "" ? kind : `${kind} from ${host}`
  return (
    <span class="gate" data-inline={isInline ? "" : undefined} data-state={state.at}>
      <Icon name={icon} />
      <span class="what">
        <b>{label === "" ? kind : label}</b> <small>{fault ?? about}</small>
      </span>
      {state.at !== "asking" && <OpenButton source={source} about={`${about}: ${label}`} isAgain={fault !== null} />}
      {fault !== null && host !== "" && (
        <a href={url} target="_blank" rel="noopener noreferrer">
          Open it
        </a>
      )}
    </span>
  )
}

interface OpenButtonProps {
  readonly source: Source
  readonly about: string
  readonly isAgain: boolean
}

function OpenButton({ source, about, isAgain }: OpenButtonProps): VNode {
  const words = isAgain ? "Try again" : "Load"
  return (
    <button
      type="button"
      aria-label={`${words}: ${about}`}
      onClick={(event) => {
        // It may stand in a link.
        event.preventDefault()
        event.stopPropagation()
        handOn(event.currentTarget.closest(".gate")?.parentElement)
        source.open()
      }}
    >
      {words}
    </button>
  )
}

/** What comes in its place is drawn by then, in milliseconds. */
const DRAWN_MS = 50

/** The button goes, so the keyboard goes on with what stands in its place. */
export function handOn(place: Element | null | undefined): void {
  setTimeout(() => {
    if (document.activeElement !== document.body) return
    place?.querySelector<HTMLElement>(".frame, .play, video, .gate button")?.focus({ preventScroll: true })
  }, DRAWN_MS)
}
