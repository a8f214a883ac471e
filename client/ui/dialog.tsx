/**
 * dialog.tsx: a modal dialog with a title. The browser keeps the focus inside it.
 *
 * When the dialog closes, the focus returns to where it was. To focus something else, wait until the dialog has closed.
 */

import type { ComponentChildren, VNode } from "preact"
import { useRef } from "preact/hooks"
import { useModalDialog } from "./use-modal-dialog.ts"

interface DialogProps {
  readonly title: string
  readonly role?: "dialog" | "alertdialog"
  readonly onCancel: () => void
  readonly children: ComponentChildren
}

export function Dialog({ title, role = "dialog", onCancel, children }: DialogProps): VNode {
  const dialogRef = useRef<HTMLDialogElement>(null)
  useModalDialog(dialogRef)
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
        // Otherwise the page's Escape handler would stop an answer behind the dialog.
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
