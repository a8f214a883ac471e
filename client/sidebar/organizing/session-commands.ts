/** session-commands.ts: the commands for one conversation that the menus of the list and of the header share. */

import type { SessionRouter } from "../../session/session-router.ts"
import type { MenuItem } from "../../ui/popup-menu.tsx"
import { organizingText } from "../../words/parts/organizing-text.ts"
import { archiveSessions, organizeSessions } from "./organize-sessions.ts"

/** Returns the commands that organise a listed session; none for a session that isn't in any list. */
export function listOrganizing(router: SessionRouter, id: string, onMove: () => void): MenuItem[] {
  const session = router.sessionList.findSession(id)
  if (session === null) return []
  const isPinned = session.pinned === true
  return [
    {
      label: isPinned ? organizingText.unpin : organizingText.pin,
      onSelect: () => void organizeSessions(router, [id], { action: isPinned ? "unpin" : "pin" }),
    },
    { label: organizingText.move, onSelect: onMove },
    { label: organizingText.archive, onSelect: () => archiveSessions(router, [id]) },
  ]
}

/** Returns the command that marks a session as read or unread. */
export function createUnreadItem(router: SessionRouter, id: string): MenuItem {
  const isUnread = router.sessionList.findSession(id)?.unread === true
  return {
    label: isUnread ? organizingText.markRead : organizingText.markUnread,
    onSelect: () => void organizeSessions(router, [id], { action: isUnread ? "read" : "unread" }),
  }
}
