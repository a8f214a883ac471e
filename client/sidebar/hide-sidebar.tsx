/**
 * hide-sidebar.tsx: hides the sidebar of a wide window, and shows it again. Stored per browser; CSS reads
 * `data-sidebar`.
 *
 * public/theme.js applies the stored state before the first paint. While the sidebar is hidden, the header contains the
 * drawer button. In a narrow window, this button opens the drawer; in a wide one, it shows the sidebar again. Source:
 * SPEC LB29.
 */

import type { Signal } from "@preact/signals"
import type { VNode } from "preact"
import { useLayoutEffect } from "preact/hooks"
import { getRootElement } from "../ui/kept-focus/page-elements.ts"
import { organizingText } from "../words/parts/organizing-text.ts"

const STORAGE_KEY = "cuecard.sidebar"
const HIDDEN = "hidden"
/** The same width as in the style sheets. Narrower windows have a drawer. */
const WIDE = "(min-width: 50.01rem)"

/** Hides the sidebar or shows it. Does nothing in a narrow window. */
export function toggleSidebar(): void {
  if (!matchMedia(WIDE).matches) return
  const { dataset } = getRootElement()
  const isHidden = dataset["sidebar"] === HIDDEN
  if (isHidden) delete dataset["sidebar"]
  else dataset["sidebar"] = HIDDEN
  // The button that had focus may now be hidden.
  document.querySelector<HTMLElement>(isHidden ? ".sidebar .hide" : ".drawer-button")?.focus()
  try {
    if (isHidden) localStorage.removeItem(STORAGE_KEY)
    else localStorage.setItem(STORAGE_KEY, HIDDEN)
  } catch {
    // Storage is blocked: the choice lasts until the page is closed.
  }
}

/** `isOpen`: whether the drawer is open. */
export function HideSidebarButton({ isOpen }: { readonly isOpen: Signal<boolean> }): VNode {
  const isDrawerOpen = isOpen.value
  useLayoutEffect(() => {
    if (!isDrawerOpen || !matchMedia(WIDE).matches) return
    isOpen.value = false
    if (getRootElement().dataset["sidebar"] === HIDDEN) toggleSidebar()
  }, [isDrawerOpen])
  return (
    <button
      type="button"
      class="hide"
      aria-label={organizingText.hideSidebar}
      title={organizingText.hideSidebar}
      aria-keyshortcuts="Control+B Meta+B"
      onClick={toggleSidebar}
    >
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <rect x="3" y="4" width="14" height="12" rx="2" />
        <path d="M8 4v12" />
      </svg>
    </button>
  )
}
