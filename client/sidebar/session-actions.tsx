/**
 * session-actions.tsx: what the sidebar's menu can do with a session (rename, share, export, delete), the other code of the
 * sidebar that the first view doesn't need, and the note that replaces the composer.
 *
 * Loaded after the first view (deferred-actions.tsx). Source: SPEC PG32–PG34, SH12.
 */

import type { VNode } from "preact"
import type { SessionRouter } from "../session/session-router.ts"
import { sessionActionText } from "../words/session-action-text.ts"
import { PopupMenu } from "../ui/popup-menu.tsx"
import { DeleteDialog } from "./delete-dialog.tsx"
import type { ExportFormat } from "./save-session.ts"
import { ShareDialog } from "./share-dialog.tsx"
import type { SessionActions, SessionDialogKind } from "./sidebar.tsx"

export { AnswerMenu } from "../ui/answer-menu.tsx"
export { ImportButton } from "../import/import-button.tsx"
export { MoreSessionsButton } from "./more-sessions-button.tsx"
export { ReadOnlyText } from "./read-only-text.tsx"
export { RenameField } from "./rename-field.tsx"
export { saveSession } from "./save-session.ts"
export { SharedSessions } from "./shared-sessions.tsx"

interface OpenMenuProps {
  readonly isReadOnly: boolean
  readonly findAnchor: () => HTMLElement | null
  /** `hasChosen`: the focus is already where it should be. */
  readonly onClose: (hasChosen: boolean) => void
  readonly onRename: () => void
  readonly onExport: (format: ExportFormat) => void
  readonly onDialog: (kind: SessionDialogKind) => void
}

export function OpenMenu({ isReadOnly, findAnchor, onClose, onRename, onExport, onDialog }: OpenMenuProps): VNode {
  const exports = [
    { label: sessionActionText.exportMarkdown, onSelect: () => onExport("markdown") },
    { label: sessionActionText.exportJsonl, onSelect: () => onExport("jsonl") },
  ]
  const changes = [
    { label: sessionActionText.rename, onSelect: onRename },
    { label: sessionActionText.share, onSelect: () => onDialog("share") },
  ]
  const erasure = { label: sessionActionText.delete, isDestructive: true, onSelect: () => onDialog("delete") }
  return (
    <PopupMenu
      label={sessionActionText.options}
      findAnchor={findAnchor}
      onClose={onClose}
      items={isReadOnly ? exports : [...changes, ...exports, erasure]}
    />
  )
}

interface SessionDialogProps {
  readonly router: SessionRouter
  readonly actions: SessionActions
}

/** The dialog that the menu has opened. */
export function SessionDialog({ router, actions }: SessionDialogProps): VNode | null {
  const open = actions.dialog.value
  if (open === null) return null
  const closeDialog = (): void => {
    actions.dialog.value = null
  }
  const title = router.sessionList.findTitle(open.id)
  return open.kind === "share" ? (
    <ShareDialog key={open.id} api={router.api} id={open.id} title={title} onClose={closeDialog} />
  ) : (
    <DeleteDialog title={title} onCancel={closeDialog} onDelete={() => actions.eraseSession(open.id)} />
  )
}
