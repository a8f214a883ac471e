/**
 * dialog.tsx: a box that has to be answered before the page goes on. The browser holds the focus inside it.
 *
 * When it goes, the focus is back where it was; whoever wants it elsewhere asks for that once the box is gone.
 */

import type { ComponentChildren, VNode } from "preact"
import { useLayoutEffect, useRef } from "preact/hooks"

interface DialogProps {
  readonly title: string
  readonly role?: "dialog" | "alertdialog"
  readonly onCancel: () => void
  readonly children: ComponentChildren
}

export function Dialog({ title, role = "dialog", onCancel, children }: DialogProps): VNode {
  const dialogRef = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const { current } = dialogRef
    const previousFocus = document.activeElement
    current?.showModal()
    current?.querySelector<HTMLElement>("[data-first]")?.focus()
    return () => {
      // As long as it is open, nothing behind it takes the focus.
      current?.close()
      if (previousFocus instanceof HTMLElement) previousFocus.focus()
    }
  }, [])
  return (
    <dialog
      class="box"
      ref={dialogRef}
      role={role}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault()
        onCancel()
      }}
      onKeyDown={(event) => {
        // The page's own Escape would stop an answer behind the box.
        if (event.key !== "Escape" || event.isComposing) return
        event.preventDefault()
        onCancel()
      }}
      onClick={(event) => {
        if (event.target === dialogRef.current) onCancel()
      }}
    >
      <div>
        <h2>{title}</h2>
        {children}
      </div>
    </dialog>
  )
}
