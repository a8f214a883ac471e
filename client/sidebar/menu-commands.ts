/**
 * menu-commands.ts: the commands of a conversation's menu, rename field and dialogs. They also move the focus
 * afterwards.
 *
 * Source: SPEC PG32–PG34.
 */

import type { SessionRouter } from "../session/session-router.ts"
import { focusRequests } from "../ui/focus.ts"
import { deleteSessions } from "./organizing/organize-sessions.ts"
import type { SessionActions, SessionDialogKind } from "./sidebar.tsx"

/**
 * Closes the menu. If the user chose a command or clicked outside, `isFocusHandled` is true, and this function must not
 * move the focus to the menu's button.
 */
export function closeMenu({ openMenuId, findMenuButton }: SessionActions, isFocusHandled: boolean): void {
  const id = openMenuId.peek()
  openMenuId.value = null
  if (!isFocusHandled && id !== null) findMenuButton(id)?.focus()
}

/**
 * Closes the rename field and saves the title, unless it is null because it didn't change. If the user finished with a
 * key, `byKeyboard` is true, and the focus must be moved.
 */
export function finishRenaming(
  { sessionList }: SessionRouter,
  { renamingId, findMenuButton }: SessionActions,
  ...[id, title, byKeyboard]: [id: string, title: string | null, byKeyboard: boolean]
): void {
  renamingId.value = null
  // The row's button exists only after the next render.
  if (byKeyboard) setTimeout(() => findMenuButton(id)?.focus())
  if (title !== null) void sessionList.renameSession(id, title)
}

export function openDialog({ dialog }: SessionActions, kind: SessionDialogKind, id: string): void {
  dialog.value = { kind, id }
}

/** Deletes a session, which can be undone. The focus moves to the message box, because the row disappears. */
export function deleteSession(router: SessionRouter, { isDrawerOpen }: SessionActions, id: string): void {
  isDrawerOpen.value = false
  deleteSessions(router, [id])
  // Deferred until the menu has closed.
  setTimeout(() => focusRequests.value++)
}
