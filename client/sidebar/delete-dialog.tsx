/** ask-delete.tsx: is the reader sure? What is erased comes back from nowhere. */

import type { VNode } from "preact"
import { Dialog } from "../ui/dialog.tsx"
import { formatTitle } from "../session/session-list.ts"

interface DeleteDialogProps {
  readonly title: string | undefined
  readonly onCancel: () => void
  readonly onDelete: () => void
}

export function DeleteDialog({ title, onCancel, onDelete }: DeleteDialogProps): VNode {
  return (
    <Dialog title="Delete this conversation?" role="alertdialog" onCancel={onCancel}>
      <p>
        <strong>{formatTitle(title)}</strong> and all that was said in it will be erased, here and on the server. This
        cannot be undone.
      </p>
      <p class="ways">
        <button type="button" data-first="" onClick={onCancel}>
          Cancel
        </button>
        <button type="button" class="grave" onClick={onDelete}>
          Delete
        </button>
      </p>
    </Dialog>
  )
}
