/** delete-dialog.tsx: asks the user to confirm the deletion of a conversation. */

import type { VNode } from "preact"
import { formatTitle } from "../session/session-list.ts"
import { Dialog } from "../ui/dialog.tsx"
import { appText } from "../words/page-text.ts"
import { sessionActionText } from "../words/session-action-text.ts"

interface DeleteDialogProps {
  readonly title: string | undefined
  readonly onCancel: () => void
  readonly onDelete: () => void
}

export function DeleteDialog({ title, onCancel, onDelete }: DeleteDialogProps): VNode {
  return (
    <Dialog title={sessionActionText.deleteTitle} role="alertdialog" onCancel={onCancel}>
      <p>{sessionActionText.deleteWarning(formatTitle(title))}</p>
      <p class="ways">
        <button type="button" data-first="" onClick={onCancel}>
          {appText.cancel}
        </button>
        <button type="button" class="grave" onClick={onDelete}>
          {sessionActionText.confirmDelete}
        </button>
      </p>
    </Dialog>
  )
}
