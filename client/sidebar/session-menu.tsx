/**
 * session-menu.tsx: a short list of things to do, beside the button that opened it.
 *
 * Arrows, Home and End move, Escape, Tab and a press elsewhere close. It stands in the window, not in the list that
 * scrolls. Source: SPEC PG32.
 */

import type { VNode } from "preact"
import { useEffect, useLayoutEffect, useRef } from "preact/hooks"

export interface MenuItem {
  readonly label: string
  readonly isDestructive?: boolean
  readonly onSelect: () => void
}

interface SessionMenuProps {
  readonly items: readonly MenuItem[]
  readonly findAnchor: () => HTMLElement | null
  /** `isDone`: something was chosen, and the focus is where that wants it. */
  readonly onClose: (hasChosen: boolean) => void
}

/** Room between the menu, its button and the window's edge, in CSS pixels. */
const GAP_PX = 4

export function SessionMenu({ items, findAnchor: anchor, onClose }: SessionMenuProps): VNode {
  const menuRef = useRef<HTMLDivElement>(null)
  const findItems = (): HTMLElement[] => [...(menuRef.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])]
  useLayoutEffect(() => {
    const button = anchor()
    if (menuRef.current !== null && button !== null) positionMenu(menuRef.current, button)
    findItems()[0]?.focus({ preventScroll: true })
  }, [])
  useEffect(() => {
    const closeIfOutside = (event: Event): void => {
      const { target } = event
      if (!(target instanceof Node) || menuRef.current?.contains(target)) return
      // The button closes it by its own click.
      if (event.type === "pointerdown" && anchor()?.contains(target)) return
      onClose(event.type === "pointerdown")
    }
    addEventListener("pointerdown", closeIfOutside, true)
    addEventListener("scroll", closeIfOutside, true)
    addEventListener("resize", closeIfOutside)
    return () => {
      removeEventListener("pointerdown", closeIfOutside, true)
      removeEventListener("scroll", closeIfOutside, true)
      removeEventListener("resize", closeIfOutside)
    }
  }, [])
  const onKeyDown = (event: KeyboardEvent): void => {
    const itemElements = findItems()
    const focusedIndex = itemElements.findIndex((one) => one.matches(":focus"))
    const targetIndex = getTargetIndex(event.key, focusedIndex, itemElements.length)
    if (targetIndex !== null) itemElements[targetIndex]?.focus()
    else if (event.key === "Escape" || event.key === "Tab") onClose(false)
    else return
    event.preventDefault()
  }
  return (
    <div class="menu" role="menu" aria-label="Options" ref={menuRef} onKeyDown={onKeyDown}>
      {items.map(({ label, isDestructive: isGrave, onSelect: act }) => (
        <button
          key={label}
          type="button"
          role="menuitem"
          tabIndex={-1}
          class={isGrave === true ? "grave" : undefined}
          onClick={() => {
            onClose(true)
            act()
          }}
        >
          {label}
        </button>
      ))}
    </div>
  )
}

/** Where a key leads among so many; null where it leads nowhere. */
function getTargetIndex(key: string, at: number, count: number): number | null {
  if (key === "ArrowDown") return (at + 1) % count
  if (key === "ArrowUp") return (at - 1 + count) % count
  if (key === "Home") return 0
  return key === "End" ? count - 1 : null
}

/** Below the button, its right edge under the button's; above it where there is no room below. */
function positionMenu(menu: HTMLElement, button: HTMLElement): void {
  const { top, bottom, right } = button.getBoundingClientRect()
  const { offsetWidth: width, offsetHeight: height } = menu
  const isBelow = bottom + GAP_PX + height <= innerHeight - GAP_PX
  menu.style.top = `${Math.max(GAP_PX, isBelow ? bottom + GAP_PX : top - GAP_PX - height)}px`
  menu.style.left = `${Math.max(GAP_PX, Math.min(right - width, innerWidth - width - GAP_PX))}px`
}
