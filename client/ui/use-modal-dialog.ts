/** use-modal-dialog.ts: opens a <dialog> as a modal while its component is mounted. */

import type { RefObject } from "preact"
import { useLayoutEffect } from "preact/hooks"
import { getActiveElement } from "./kept-focus/page-elements.ts"

/**
 * Opens the dialog and focuses the element marked `data-first`. When the dialog closes, the focus returns to where it
 * was.
 */
export function useModalDialog(dialogRef: RefObject<HTMLDialogElement | null>): void {
  useLayoutEffect(() => {
    const dialog = dialogRef.current
    const previousFocus = getActiveElement()
    dialog?.showModal()
    dialog?.querySelector<HTMLElement>("[data-first]")?.focus()
    return () => {
      // Closes the dialog first, because nothing behind an open modal can receive focus.
      dialog?.close()
      if (previousFocus instanceof HTMLElement) previousFocus.focus({ preventScroll: true })
    }
  }, [])
}
