/**
 * session-actions.tsx: the sidebar's menu for a session (rename, share, organise, select, export, delete), other
 * sidebar code that isn't needed for the initial render, and the note that replaces the composer.
 *
 * Loaded after the initial render (deferred-actions.tsx). Source: SPEC PG32–PG34, SH12, LB21.
 */

import type { VNode } from "preact"
import { useEffect } from "preact/hooks"
import type { SessionRouter } from "../session/session-router.ts"
import { sessionActionText } from "../words/session-action-text.ts"
import { keepFocus } from "../ui/kept-focus/keep-focus.ts"
import { PopupMenu } from "../ui/popup-menu.tsx"
import { isShared } from "../net/api.ts"
import { organizingText } from "../words/parts/organizing-text.ts"
import { closeMenu, deleteSession, openDialog } from "./menu-commands.ts"
import { MoveDialog } from "./organizing/move-dialog.tsx"
import { startSelecting } from "./organizing/selection.tsx"
import { TemporaryNote } from "./organizing/temporary-chat.tsx"
import { createUnreadItem, listOrganizing } from "./organizing/session-commands.ts"
import { saveSession } from "./save-session.ts"
import { ShareDialog, ShareUpToDialog } from "./share-dialog.tsx"
import type { SessionActions } from "./sidebar.tsx"

export { finishRenaming } from "./menu-commands.ts"
export { MoveDialog } from "./organizing/move-dialog.tsx"
export { listOrganizing } from "./organizing/session-commands.ts"
export { FolderSections } from "./organizing/folder-sections.tsx"
export { folders } from "./organizing/folders.ts"
export { TemporarySwitch } from "./organizing/temporary-chat.tsx"
export { ImportButton } from "./organizing/library-buttons.tsx"
export { SelectableRow, selectedIds } from "./organizing/selection.tsx"
export { HideSidebarButton, toggleSidebar } from "./hide-sidebar.tsx"
export { MoreSessionsButton } from "./more-sessions-button.tsx"
export { ReadOnlyStartText, ReadOnlyText } from "./read-only-text.tsx"
export { RenameField } from "./rename-field.tsx"
export { saveSession } from "./save-session.ts"
export { shareUpTo } from "./share-dialog.tsx"
export { SharedSessions } from "./shared-sessions.tsx"

interface ActionsProps {
  readonly router: SessionRouter
  readonly actions: SessionActions
}

/** The open menu. A read-only conversation can only be exported. SPEC SH13. */
export function OpenMenu({ router, actions }: ActionsProps): VNode | null {
  // Called here because this component is mounted as soon as the code is loaded.
  useEffect(keepFocus, [])
  const id = actions.openMenuId.value
  if (id === null) return null
  const exports = [
    { label: sessionActionText.exportMarkdown, onSelect: () => void saveSession(router, id, "markdown") },
    { label: sessionActionText.exportJsonl, onSelect: () => void saveSession(router, id, "jsonl") },
  ]
  const changes = [
    { label: sessionActionText.rename, onSelect: () => (actions.renamingId.value = id) },
    { label: sessionActionText.share, onSelect: () => openDialog(actions, "share", id) },
    ...listOrganizing(router, id, () => openDialog(actions, "move", id)),
    ...(router.controller.value?.id === id ? [] : [createUnreadItem(router, id)]),
    { label: organizingText.select, onSelect: () => startSelecting(id) },
  ]
  const erasure = {
    label: organizingText.delete,
    isDestructive: true,
    onSelect: () => deleteSession(router, actions, id),
  }
  return (
    <PopupMenu
      key={id}
      label={sessionActionText.options}
      findAnchor={() => actions.findMenuButton(actions.openMenuId.peek() ?? "")}
      onClose={(isFocusHandled) => closeMenu(actions, isFocusHandled)}
      items={router.isReadOnly.value || isShared(id) ? exports : [...changes, ...exports, erasure]}
    />
  )
}

/** The dialog that was opened from the menu. */
export function SessionDialog({ router, actions }: ActionsProps): VNode | null {
  const open = actions.dialog.value
  if (open === null) return null
  const closeDialog = (): void => {
    actions.dialog.value = null
  }
  const title = router.sessionList.findTitle(open.id)
  return open.kind === "share" ? (
    <ShareDialog key={open.id} api={router.api} id={open.id} title={title} onClose={closeDialog} />
  ) : (
    <MoveDialog router={router} ids={[open.id]} onClose={closeDialog} />
  )
}

/** The elements above the message box of a conversation, and the dialog that an answer's menu opens. */
export function ConversationMarks({ router }: Pick<ActionsProps, "router">): VNode {
  return (
    <>
      <TemporaryNote router={router} />
      <ShareUpToDialog router={router} />
    </>
  )
}
