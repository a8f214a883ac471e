/**
 * popup-menu.tsx: a menu next to the button that opened it.
 *
 * Arrow keys, Home and End move between items. Escape, Tab and a click outside close the menu. The menu is in the top
 * layer and positioned relative to the window, so neither the scrolling list nor a message clips it. Source: SPEC PG32.
 */

import type { RefObject, VNode } from "preact"
import { useEffect, useLayoutEffect, useRef } from "preact/hooks"
import { getEventRoot, getEventTarget } from "./kept-focus/page-elements.ts"

export interface MenuItem {
  readonly label: string
  readonly isDestructive?: boolean
  /** Whether the menu stays open to show the result of the command. */
  readonly staysOpen?: boolean
  readonly onSelect: () => void
}

interface PopupMenuProps {
  /** The accessible name. */
  readonly label: string
  readonly items: readonly MenuItem[]
  readonly findAnchor: () => HTMLElement | null
  /**
   * If the user chose a command or clicked outside, `isFocusHandled` is true, and `onClose` must not move the focus to
   * the button.
   */
  readonly onClose: (isFocusHandled: boolean) => void
}

/** Space between the menu, its button and the window's edge, in CSS pixels. */
const GAP_PX = 4

export function PopupMenu({ label: menuLabel, items, findAnchor, onClose }: PopupMenuProps): VNode {
  const menuRef = useRef<HTMLDivElement>(null)
  const findItems = (): HTMLElement[] => [...(menuRef.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])]
  useLayoutEffect(() => {
    const button = findAnchor()
    // A popover is in the top layer, where nothing around the button clips it.
    menuRef.current?.showPopover?.()
    if (menuRef.current !== null && button !== null) positionMenu(menuRef.current, button)
    findItems()[0]?.focus({ preventScroll: true })
  }, [])
  useCloseOutside(menuRef, findAnchor, onClose)
  const onKeyDown = (event: KeyboardEvent): void => {
    const itemElements = findItems()
    const focusedIndex = itemElements.findIndex((item) => item.matches(":focus"))
    const targetIndex = getTargetIndex(event.key, focusedIndex, itemElements.length)
    if (targetIndex !== null) itemElements[targetIndex]?.focus()
    else if (event.key === "Escape" || event.key === "Tab") onClose(false)
    else return
    event.preventDefault()
  }
  return (
    <div class="menu" role="menu" popover="manual" aria-label={menuLabel} ref={menuRef} onKeyDown={onKeyDown}>
      {items.map(({ label, isDestructive, staysOpen, onSelect }, at) => (
        <button
          key={at}
          type="button"
          role="menuitem"
          tabIndex={-1}
          class={isDestructive === true ? "grave" : undefined}
          onClick={() => {
            // The command may open a dialog, which later returns the focus to the element that has focus now.
            if (staysOpen !== true) {
              findAnchor()?.focus({ preventScroll: true })
              onClose(true)
            }
            onSelect()
          }}
        >
          {label}
        </button>
      ))}
    </div>
  )
}

/** Closes the menu when the user clicks or scrolls outside it, or resizes the window. */
function useCloseOutside(
  menuRef: RefObject<HTMLElement | null>,
  findAnchor: PopupMenuProps["findAnchor"],
  onClose: PopupMenuProps["onClose"],
): void {
  useEffect(() => {
    const closeIfOutside = (event: Event): void => {
      const target = getEventTarget(event)
      if (!(target instanceof Node) || menuRef.current?.contains(target)) return
      // If the menu's button was clicked, its own handler closes the menu.
      if (event.type === "pointerdown" && findAnchor()?.contains(target)) return
      onClose(event.type === "pointerdown")
    }
    addEventListener("pointerdown", closeIfOutside, true)
    addEventListener("scroll", closeIfOutside, true)
    // A scroll event inside a shadow root doesn't reach the window.
    getEventRoot().addEventListener("scroll", closeIfOutside, true)
    addEventListener("resize", closeIfOutside)
    return () => {
      removeEventListener("pointerdown", closeIfOutside, true)
      removeEventListener("scroll", closeIfOutside, true)
      getEventRoot().removeEventListener("scroll", closeIfOutside, true)
      removeEventListener("resize", closeIfOutside)
    }
  }, [])
}

/** Returns the index of the item that a key moves to; null for other keys. */
function getTargetIndex(key: string, index: number, count: number): number | null {
  if (key === "ArrowDown") return (index + 1) % count
  if (key === "ArrowUp") return (index - 1 + count) % count
  if (key === "Home") return 0
  return key === "End" ? count - 1 : null
}

/** Places the menu below the button, aligned to its right edge, or above it if there is no room below. */
function positionMenu(menu: HTMLElement, button: HTMLElement): void {
  const { top, bottom, right } = button.getBoundingClientRect()
  const { offsetWidth: width, offsetHeight: height } = menu
  const isBelow = bottom + GAP_PX + height <= innerHeight - GAP_PX
  menu.style.top = `${Math.max(GAP_PX, isBelow ? bottom + GAP_PX : top - GAP_PX - height)}px`
  menu.style.left = `${Math.max(GAP_PX, Math.min(right - width, innerWidth - width - GAP_PX))}px`
}
