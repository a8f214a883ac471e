/**
 * watch-user.ts: loads the page again when another tab has signed a user in or out. Source: SPEC SP6.
 *
 * The browser's storage tells the other tabs; where it is forbidden, the server closes their sockets.
 */

import { USER_KEY } from "../net/user-storage.ts"
import { openStorage } from "../ui/browser-storage.ts"

/** `isForeign`: whether the page must load again because another tab has stored this user. */
export function watchUser(isForeign: (user: string) => boolean): void {
  addEventListener("storage", ({ key, newValue }) => {
    if ((key === USER_KEY || key === null) && (newValue === null || isForeign(newValue))) location.reload()
  })
  // The browser has kept the page since the user left it, and shows it again.
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted && openStorage().getItem(USER_KEY) === null) location.reload()
  })
}
