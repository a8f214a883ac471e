/** panel-width.ts: the width of the panel as a percentage of the window's width, stored per browser. SPEC CP2. */

import { signal } from "@preact/signals"
import { openPreferences } from "../../ui/preferences/preference-storage.ts"
import { getRootElement } from "../../ui/kept-focus/page-elements.ts"

const STORAGE_KEY = "cuecard.panel-width"
export const MIN_WIDTH_PERCENT = 25
export const MAX_WIDTH_PERCENT = 65
const DEFAULT_WIDTH_PERCENT = 42
/** The change of the width with each press of an arrow key. */
const STEP_PERCENT = 2

export const panelWidthPercent = signal(readWidth())

function readWidth(): number {
  const stored = Number(openPreferences().getItem(STORAGE_KEY) ?? Number.NaN)
  return stored >= MIN_WIDTH_PERCENT && stored <= MAX_WIDTH_PERCENT ? stored : DEFAULT_WIDTH_PERCENT
}

export function setPanelWidth(percent: number): void {
  const width = Math.round(Math.min(MAX_WIDTH_PERCENT, Math.max(MIN_WIDTH_PERCENT, percent)))
  if (width === panelWidthPercent.peek()) return
  panelWidthPercent.value = width
  try {
    openPreferences().setItem(STORAGE_KEY, String(width))
  } catch {
    // If storage is full or blocked, the width lasts until the page is closed.
  }
}

/** Sets the width on the element that contains the page and the panel, because the page makes room for the panel. */
export function applyPanelWidth(percent: number | null): void {
  const { style } = getRootElement()
  if (percent === null) style.removeProperty("--panel-width")
  else style.setProperty("--panel-width", `${percent}vw`)
}

/**
 * Returns the width after a key press; null for keys that don't change it. The panel grows towards the conversation.
 */
export function keyToWidth(key: string, width: number, isRightToLeft: boolean): number | null {
  switch (key) {
    case "ArrowLeft":
      return width + (isRightToLeft ? -STEP_PERCENT : STEP_PERCENT)
    case "ArrowRight":
      return width + (isRightToLeft ? STEP_PERCENT : -STEP_PERCENT)
    case "Home":
      return MIN_WIDTH_PERCENT
    case "End":
      return MAX_WIDTH_PERCENT
    default:
      return null
  }
}

/** Returns the width at which the panel's inner edge is at the pointer. */
export function pointToWidth(clientX: number, windowWidth: number, isRightToLeft: boolean): number {
  return ((isRightToLeft ? clientX : windowWidth - clientX) / windowWidth) * 100
}
