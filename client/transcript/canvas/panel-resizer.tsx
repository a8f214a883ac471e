/** panel-resizer.tsx: the edge of the panel, which can be moved with the pointer and the arrow keys. SPEC CP2. */

import type { VNode } from "preact"
import { useState } from "preact/hooks"
import { getRootElement } from "../../ui/kept-focus/page-elements.ts"
import { canvasPanelText } from "../../words/parts/canvas-panel-text.ts"
import {
  keyToWidth,
  MAX_WIDTH_PERCENT,
  MIN_WIDTH_PERCENT,
  panelWidthPercent,
  pointToWidth,
  setPanelWidth,
} from "./panel-width.ts"

export function PanelResizer(): VNode {
  const [isDragging, setDragging] = useState(false)
  const isRightToLeft = (): boolean => getRootElement().dir === "rtl"
  const onKeyDown = (event: KeyboardEvent): void => {
    const width = keyToWidth(event.key, panelWidthPercent.peek(), isRightToLeft())
    if (width === null) return
    event.preventDefault()
    setPanelWidth(width)
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: an <hr> can't be focused or moved.
    <div
      class="edge"
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={canvasPanelText.resize}
      aria-valuenow={panelWidthPercent.value}
      aria-valuemin={MIN_WIDTH_PERCENT}
      aria-valuemax={MAX_WIDTH_PERCENT}
      data-dragging={isDragging ? "" : undefined}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => {
        // Otherwise the frame would get the pointer's events.
        event.currentTarget.setPointerCapture(event.pointerId)
        setDragging(true)
      }}
      onPointerMove={({ clientX }) => {
        if (isDragging) setPanelWidth(pointToWidth(clientX, innerWidth, isRightToLeft()))
      }}
      onLostPointerCapture={() => setDragging(false)}
    />
  )
}
