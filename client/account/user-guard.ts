/**
 * user-guard.ts: notices when the user of the page changes.
 *
 * The browser's storage remembers the last user. Unsent messages in it belong to that user, so before the token of another
 * one is used, they are put aside and the page is loaded again. Source: SPEC SP5.
 */

import { type KeyValueStorage, USER_KEY } from "../net/outbox.ts"
import { readUser, type TokenResponse } from "../net/token-source.ts"

/** Returns a function for every new token. It doesn't return if the page has to be loaded again for another user. */
export function createUserGuard(storage: KeyValueStorage): (response: TokenResponse) => Promise<void> {
  let pageUser = storage.getItem(USER_KEY)
  return async ({ token }) => {
    const user = readUser(token)
    if (user === pageUser) return
    await (await import("./switch-user.ts")).switchUser(storage, pageUser, user)
    pageUser = user
  }
}
