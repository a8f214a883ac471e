/**
 * watch-user.ts: loads the page again when another tab has signed the user in or out. Source: SPEC SP6.
 *
 * The browser's storage tells the other tabs; where it is forbidden, the server closes their sockets.
 */

import { USER_KEY } from "../net/outbox.ts"
import { tokenResponse } from "./token-response.ts"

export function watchUser(): void {
  addEventListener("storage", ({ key, newValue }) => {
    const isSignedOutHere = tokenResponse.peek() === null
    if ((key === USER_KEY || key === null) && (newValue === null || isSignedOutHere)) location.reload()
  })
  // The browser has kept the page since the user left it, and shows it again.
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted && localStorage.getItem(USER_KEY) === null) location.reload()
  })
}
