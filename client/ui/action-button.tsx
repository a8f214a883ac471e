/**
 * action-button.tsx: an icon button below a message.
 */

import type { ComponentChildren, VNode } from "preact"

interface ActionButtonProps {
  readonly label: string
  /** Sets `aria-disabled`, so that a disabled button keeps focus. */
  readonly isDisabled?: boolean
  /** The value of `data-focus-key`, used to return the focus to the same button after a re-render. */
  readonly way?: string
  /** Only for a button that opens a menu: whether the menu is open. */
  readonly isExpanded?: boolean
  /** Only for a toggle button: whether it is pressed. */
  readonly isPressed?: boolean
  readonly onActivate: (button: HTMLElement) => void
  /** The paths of the icon. */
  readonly children: ComponentChildren
}

export function ActionButton(props: ActionButtonProps): VNode {
  const { label, isDisabled = false, way, isExpanded, isPressed, onActivate, children } = props
  return (
    <button
      type="button"
      class="act"
      aria-label={label}
      title={label}
      aria-disabled={isDisabled}
      data-focus-key={way}
      aria-haspopup={isExpanded === undefined ? undefined : "menu"}
      aria-expanded={isExpanded}
      aria-pressed={isPressed}
      onClick={(event) => {
        // Safari doesn't focus a clicked button, but what happens next depends on which element has focus.
        event.currentTarget.focus()
        if (!isDisabled) onActivate(event.currentTarget)
      }}
    >
      <svg viewBox="0 0 20 20" aria-hidden="true">
        {children}
      </svg>
    </button>
  )
}
