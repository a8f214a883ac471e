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
  readonly isGrave?: boolean
  readonly act: () => void
}

interface MenuProps {
  readonly items: readonly MenuItem[]
  readonly anchor: () => HTMLElement | null
  /** `isDone`: something was chosen, and the focus is where that wants it. */
  readonly onClose: (isDone: boolean) => void
}

/** Room between the menu, its button and the window's edge, in CSS pixels. */
const GAP_PX = 4

export function Menu({ items, anchor, onClose }: MenuProps): VNode {
  const box = useRef<HTMLDivElement>(null)
  const buttons = (): HTMLElement[] => [...(box.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])]
  useLayoutEffect(() => {
    const button = anchor()
    if (box.current !== null && button !== null) place(box.current, button)
    buttons()[0]?.focus({ preventScroll: true })
  }, [])
  useEffect(() => {
    const away = (event: Event): void => {
      const { target } = event
      if (!(target instanceof Node) || box.current?.contains(target)) return
      // The button closes it by its own click.
      if (event.type === "pointerdown" && anchor()?.contains(target)) return
      onClose(event.type === "pointerdown")
    }
    addEventListener("pointerdown", away, true)
    addEventListener("scroll", away, true)
    addEventListener("resize", away)
    return () => {
      removeEventListener("pointerdown", away, true)
      removeEventListener("scroll", away, true)
      removeEventListener("resize", away)
    }
  }, [])
  const onKeyDown = (event: KeyboardEvent): void => {
    const all = buttons()
    const at = all.findIndex((one) => one.matches(":focus"))
    const to = stepTo(event.key, at, all.length)
    if (to !== null) all[to]?.focus()
    else if (event.key === "Escape" || event.key === "Tab") onClose(false)
    else return
    event.preventDefault()
  }
  return (
    <div class="menu" role="menu" aria-label="Options" ref={box} onKeyDown={onKeyDown}>
      {items.map(({ label, isGrave, act }) => (
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
function stepTo(key: string, at: number, count: number): number | null {
  if (key === "ArrowDown") return (at + 1) % count
  if (key === "ArrowUp") return (at - 1 + count) % count
  if (key === "Home") return 0
  return key === "End" ? count - 1 : null
}

/** Below the button, its right edge under the button's; above it where there is no room below. */
function place(box: HTMLElement, button: HTMLElement): void {
  const { top, bottom, right } = button.getBoundingClientRect()
  const { offsetWidth: width, offsetHeight: height } = box
  const isBelow = bottom + GAP_PX + height <= innerHeight - GAP_PX
  box.style.top = `${Math.max(GAP_PX, isBelow ? bottom + GAP_PX : top - GAP_PX - height)}px`
  box.style.left = `${Math.max(GAP_PX, Math.min(right - width, innerWidth - width - GAP_PX))}px`
}
