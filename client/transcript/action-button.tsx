/**
 * action-button.tsx: an icon button below a message.
 */

import type { ComponentChildren, VNode } from "preact"

interface ActionButtonProps {
  readonly label: string
  /** Sets `aria-disabled`, so that a disabled button keeps the focus. */
  readonly isDisabled?: boolean
  /** The value of `data-way`, by which the focus finds the same button again after a change. */
  readonly way?: string
  readonly onActivate: () => void
  /** The paths of the icon. */
  readonly children: ComponentChildren
}

export function ActionButton({ label, isDisabled = false, way, onActivate, children }: ActionButtonProps): VNode {
  return (
    <button
      type="button"
      class="act"
      aria-label={label}
      title={label}
      aria-disabled={isDisabled}
      data-way={way}
      onClick={(event) => {
        // Safari doesn't focus a clicked button, and what happens next depends on the focus.
        event.currentTarget.focus()
        if (!isDisabled) onActivate()
      }}
    >
      <svg viewBox="0 0 20 20" aria-hidden="true">
        {children}
      </svg>
    </button>
  )
}
