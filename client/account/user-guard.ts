/**
 * user-guard.ts: detects when the page's user changes.
 *
 * The browser's storage contains the id of the last user, whose unsent messages the page shows. The page reloads before
 * it uses another user's token. Source: SPEC SP5, SP10.
 */

import type { KeyValueStorage } from "../net/outbox.ts"
import { readUser, type TokenResponse } from "../net/token-source.ts"
import { ASIDE_PREFIX, readStorageRows, UNSENT_KEY, type UserStorage, writeUser } from "../net/user-storage.ts"

/** Whether this browser stores nothing for any user, which means that nothing has to be set aside. */
function isUnused(storage: KeyValueStorage): boolean {
  return readStorageRows(storage).every(([key]) => !UNSENT_KEY.test(key) && !key.startsWith(ASIDE_PREFIX))
}

/**
 * Returns a function to call with every new token. Its promise never settles if the page has to reload for another
 * user.
 */
export function createUserGuard(
  storage: KeyValueStorage,
  page: Pick<UserStorage, "user">,
): (response: TokenResponse) => Promise<void> {
  return async ({ token }) => {
    const user = readUser(token)
    if (user !== null && page.user === null && isUnused(storage)) writeUser(storage, user)
    else if (user !== page.user) await (await import("./switch-user.ts")).switchUser(storage, page.user, user)
    page.user = user
  }
}
