/**
 * session-actions.tsx: what the sidebar's menu can do with a session (rename, export, delete), and the button that loads
 * more sessions.
 *
 * Loaded after the first view (deferred-actions.ts). Source: SPEC PG32–PG34.
 */

import type { VNode } from "preact"
import type { ExportFormat } from "./save-session.ts"
import { sessionActionText } from "../words/session-action-text.ts"
import { PopupMenu } from "../ui/popup-menu.tsx"

export { DeleteDialog } from "./delete-dialog.tsx"
export { MoreSessionsButton } from "./more-sessions-button.tsx"
export { RenameField } from "./rename-field.tsx"
export { saveSession } from "./save-session.ts"

interface OpenMenuProps {
  readonly findAnchor: () => HTMLElement | null
  /** `hasChosen`: the focus is already where it should be. */
  readonly onClose: (hasChosen: boolean) => void
  readonly onRename: () => void
  readonly onExport: (format: ExportFormat) => void
  readonly onDelete: () => void
}

export function OpenMenu({ findAnchor, onClose, onRename, onExport, onDelete }: OpenMenuProps): VNode {
  return (
    <PopupMenu
      label={sessionActionText.options}
      findAnchor={findAnchor}
      onClose={onClose}
      items={[
        { label: sessionActionText.rename, onSelect: onRename },
        { label: sessionActionText.exportMarkdown, onSelect: () => onExport("markdown") },
        { label: sessionActionText.exportJsonl, onSelect: () => onExport("jsonl") },
        { label: sessionActionText.delete, isDestructive: true, onSelect: onDelete },
      ]}
    />
  )
}
