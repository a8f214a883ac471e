/**
 * watch-user.ts: reloads the page when another tab signs a user in or out. Source: SPEC SP6.
 *
 * Tabs detect this through storage events. Where storage is blocked, they notice when the server closes their sockets.
 */

import { USER_KEY } from "../net/user-storage.ts"
import { openStorage } from "../ui/browser-storage.ts"

/**
 * Starts watching, and returns a function that stops it. `isOtherUser` returns whether the page must reload when
 * another tab stores the given user.
 */
export function watchUser(isOtherUser: (user: string) => boolean): () => void {
  const onStorage = ({ key, newValue }: StorageEvent): void => {
    if ((key === USER_KEY || key === null) && (newValue === null || isOtherUser(newValue))) location.reload()
  }
  // The browser may have restored the page from its back/forward cache after the user signed out.
  const onPageShow = ({ persisted }: PageTransitionEvent): void => {
    if (persisted && openStorage().getItem(USER_KEY) === null) location.reload()
  }
  addEventListener("storage", onStorage)
  addEventListener("pageshow", onPageShow)
  return () => {
    removeEventListener("storage", onStorage)
    removeEventListener("pageshow", onPageShow)
  }
}
